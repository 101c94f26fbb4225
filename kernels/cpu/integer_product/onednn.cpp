// Products of 8-bit matrices with a constant weight of INT8 by oneDNN, on processors with VNNI
// (those without saturate sums of two products on the way). oneDNN multiplies the numbers as they
// are; zero points are taken off its sums:
//   sum (a - za)(b - zb) = sum a b - za sum b - zb sum a + k za zb

#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/integer_product/integer_product.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/quantize/quantize.hpp"
#include "kernels/cpu/quantized_kernels.hpp"

namespace troupe::cpu {

bool multiplies_bytes_fast() {
  static_cast<void>(onednn::cpu_engine()); // caps the instruction set
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto has = [&](dnnl::cpu_isa wanted) {
    return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
  };
  return has(dnnl::cpu_isa::avx512_core_vnni) || has(dnnl::cpu_isa::avx2_vnni);
}

namespace {

using namespace onednn;
using data_type = dnnl::memory::data_type;

struct exact_product {
  std::shared_ptr<const bound_primitive> call;
  std::string name;
  shared_bytes packed;
  std::vector<std::int32_t> column_sums; ///< of B
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::size_t scratchpad = 0; ///< bytes
  integer_product inputs;     ///< which input is what
  bool one_b_zero = true;
  int threads = 1;

  // sums[m, n], zero points taken off.
  result<void> operator()(const kernel_args& args, std::int32_t* sums, std::byte* scratch) const {
    const auto& a = args.inputs[inputs.a];
    void* const addresses[] = {a.data, const_cast<std::byte*>(packed.data()), sums, scratch};
    if (auto done = call->run(addresses); !done)
      return done;
    const auto a_zero =
        has_data(args, inputs.a_zero) ? integer_at(args.inputs[inputs.a_zero], 0) : 0;
    if (a_zero == 0 && !has_data(args, inputs.b_zero))
      return {};
    parallel_for(threads, m, n + k, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row)
        take_off(args, a_zero, row, sums + row * n);
    });
    return {};
  }

private:
  void take_off(const kernel_args& args, std::int32_t a_zero, std::int64_t row,
                std::int32_t* sums) const {
    std::int32_t rest = 0; // sum a - k za
    const bool has_b = has_data(args, inputs.b_zero);
    if (has_b)
      visit_byte(args.inputs[inputs.a].desc.type, [&](auto tag) {
        const auto* x = args.inputs[inputs.a].as<const typename decltype(tag)::type>() + row * k;
        for (std::int64_t i = 0; i < k; ++i)
          rest += x[i];
        rest -= static_cast<std::int32_t>(k) * a_zero;
      });
    if (!has_b || one_b_zero) {
      const auto all = has_b ? integer_at(args.inputs[inputs.b_zero], 0) * rest : 0;
      for (std::int64_t j = 0; j < n; ++j)
        sums[j] -= a_zero * column_sums[static_cast<std::size_t>(j)] + all;
      return;
    }
    const auto* b_zero = args.inputs[inputs.b_zero].as<const std::int8_t>();
    for (std::int64_t j = 0; j < n; ++j)
      sums[j] -= a_zero * column_sums[static_cast<std::size_t>(j)] + b_zero[j] * rest;
  }
};

tl::expected<exact_product, std::string> exact_product_of(const kernel_spec& spec,
                                                          weight_cache& weights, std::size_t a,
                                                          std::size_t b, std::size_t a_zero,
                                                          std::size_t b_zero) {
  if (!multiplies_bytes_fast())
    return decline("no VNNI");
  auto general = integer_product_of(spec, a, b, a_zero, b_zero);
  if (!general)
    return tl::unexpected{std::move(general).error()};
  const auto& weight = spec.inputs[b];
  // With sums of at most k * 2^16 nothing wraps.
  if (!weight.constant || weight.desc.type != dtype::int8 || general->b_matrices != 1
      || general->k > (1 << 14) || general->k * general->n * general->m == 0)
    return decline("only a constant matrix of INT8 with up to 16384 rows on the right");
  if (has_input(spec, a_zero) && spec.inputs[a_zero].desc.elements() != 1)
    return decline("a zero point for each row");
  exact_product made;
  made.inputs = *std::move(general);
  made.m = made.inputs.a_matrices * made.inputs.m;
  made.n = made.inputs.n;
  made.k = made.inputs.k;
  made.threads = spec.threads;
  made.one_b_zero = !has_input(spec, b_zero) || spec.inputs[b_zero].desc.elements() == 1;
  const auto left = spec.inputs[a].desc.type == dtype::uint8 ? data_type::u8 : data_type::s8;
  const memory_desc source{{made.m, made.k}, left, format::ab};
  const memory_desc plain{{made.k, made.n}, data_type::s8, format::ab};
  const memory_desc any{{made.k, made.n}, data_type::s8, format::any};
  const memory_desc target{{made.m, made.n}, data_type::s32, format::ab};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto create = [&](const memory_desc& right) {
    return attempt([&] {
      return dnnl::matmul::primitive_desc{dnnl::matmul::desc{source, right, target}, attributes,
                                          cpu_engine()};
    });
  };
  attempted<dnnl::matmul::primitive_desc> chosen = decline("not tried");
  if (const auto pinned = pinned_layout(weights, weight.constant.get(), any))
    chosen = create(*pinned);
  if (!chosen || is_reference(chosen->impl_info_str()))
    chosen = create(any);
  if (!chosen)
    return tl::unexpected{chosen.error()};
  made.name = std::string{"onednn:"} + chosen->impl_info_str();
  if (is_reference(made.name))
    return decline("oneDNN only has {}", made.name);
  auto packed = pack(weights, weight.constant, plain, chosen->weights_desc());
  if (!packed)
    return tl::unexpected{std::move(packed).error()};
  made.packed = *std::move(packed);
  made.scratchpad = chosen->scratchpad_desc().get_size();
  using from = binding::source;
  made.call = std::make_shared<const bound_primitive>(
      dnnl::matmul{*chosen},
      std::vector<binding>{{DNNL_ARG_SRC, source, from::input, a},
                           {DNNL_ARG_WEIGHTS, chosen->weights_desc(), from::constant, 0},
                           {DNNL_ARG_DST, target, from::output, 0},
                           {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc(), from::workspace, 0}});
  made.column_sums.assign(static_cast<std::size_t>(made.n), 0);
  const auto content = elements_of<std::int8_t>(weight.constant->data);
  for (std::size_t i = 0; i < content.size(); ++i)
    made.column_sums[i % made.column_sums.size()] += content[i];
  return made;
}

// Inputs of QLinearMatMul.
enum qlinear : std::size_t { a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero };

} // namespace

made_kernel make_onednn_matmul_integer(const kernel_spec& spec, weight_cache& weights) {
  auto product = exact_product_of(spec, weights, 0, 1, 2, 3);
  if (!product)
    return tl::unexpected{std::move(product).error()};
  kernel_facts facts{.name = product->name, .workspace_bytes = product->scratchpad, .unread = 2};
  return make_kernel(
      std::move(facts), [product = *std::move(product)](const kernel_args& args) -> result<void> {
        return product(args, args.outputs[0].as<std::int32_t>(), args.workspace.data());
      });
}

made_kernel make_onednn_qlinear_matmul(const kernel_spec& spec, weight_cache& weights) {
  auto product = exact_product_of(spec, weights, a, b, a_zero, b_zero);
  if (!product)
    return tl::unexpected{std::move(product).error()};
  const auto columns = spec.inputs[b_scale].desc.elements();
  for (const auto scale : {a_scale, b_scale, y_scale})
    if (spec.inputs[scale].desc.type != dtype::float32)
      return decline("scale of {}", to_string(spec.inputs[scale].desc.type));
  if (spec.inputs[a_scale].desc.elements() != 1 || spec.inputs[y_scale].desc.elements() != 1
      || spec.inputs[y_zero].desc.elements() != 1 || (columns != 1 && columns != product->n))
    return decline("scales for each row, or of the result");
  const auto sums = static_cast<std::size_t>(product->m * product->n) * sizeof(std::int32_t);
  const auto scratch = (sums + 63) / 64 * 64;
  made_kernel made = decline("result of {}", to_string(spec.outputs[0].type));
  visit_byte(spec.outputs[0].type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    kernel_facts facts{.name = product->name,
                       .workspace_bytes = scratch + product->scratchpad,
                       .unread = std::uint64_t{1} << b};
    made = make_kernel(
        std::move(facts),
        [product = *std::move(product), scratch,
         one_scale = columns == 1](const kernel_args& args) -> result<void> {
          auto* exact = reinterpret_cast<std::int32_t*>(args.workspace.data());
          if (auto done = product(args, exact, args.workspace.data() + scratch); !done)
            return done;
          const auto left = *args.inputs[a_scale].as<const float>();
          const auto* right = args.inputs[b_scale].as<const float>();
          const auto out = *args.inputs[y_scale].as<const float>();
          const auto zero = static_cast<float>(integer_at(args.inputs[y_zero], 0));
          auto* y = args.outputs[0].as<element>();
          const auto n = product.n;
          parallel_for(product.threads, product.m, n, [&](std::int64_t begin, std::int64_t end) {
            for (auto row = begin; row < end; ++row)
              for (std::int64_t j = 0; j < n; ++j)
                y[row * n + j] = quantized<element>(static_cast<float>(exact[row * n + j])
                                                        * (left * right[one_scale ? 0 : j] / out),
                                                    zero);
          });
          return {};
        });
  });
  return made;
}

} // namespace troupe::cpu
