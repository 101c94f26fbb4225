#include "kernels/cpu/onednn.hpp"

#include "kernels/cpu/isa.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

namespace troupe::cpu::onednn {
namespace {

std::optional<dnnl::cpu_isa> capped_isa() {
  const auto cap = isa_cap();
  if (!cap || !*cap)
    return std::nullopt;
  switch (**cap) {
    case isa::scalar:
    case isa::sse4: return dnnl::cpu_isa::sse41;
    case isa::avx2: return dnnl::cpu_isa::avx2;
    case isa::avx512: return dnnl::cpu_isa::avx512_core_vnni;
    case isa::neon: return std::nullopt;
  }
  return std::nullopt;
}

// Equal layers of a model share a primitive, and a shape that was planned before finds its own. One
// takes about 112 KiB, so the least recently used leave beyond 28 MiB.
constexpr int kept_primitives = 256;

} // namespace

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine = [] {
    // Fails only when oneDNN was used before, by somebody else in this process: then it stays as
    // is.
    if (const auto cap = capped_isa())
      static_cast<void>(dnnl::set_max_cpu_isa(*cap));
    dnnl::set_primitive_cache_capacity(kept_primitives);
    return dnnl::engine{dnnl::engine::kind::cpu, 0};
  }();
  return engine;
}

memory_desc dense(const dnnl::memory::dims& dims, format order) {
  return {dims, dnnl::memory::data_type::f32, order};
}

memory_desc strided(const dnnl::memory::dims& dims, const dnnl::memory::dims& strides) {
  return {dims, dnnl::memory::data_type::f32, strides};
}

struct bound_primitive::argument_set {
  dnnl::stream stream;
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
};

bound_primitive::bound_primitive(dnnl::primitive primitive, const std::vector<binding>& arguments)
    : primitive_{std::move(primitive)} {
  for (const auto& argument : arguments)
    arguments_.emplace_back(argument.argument, argument.desc);
  spare_ = make_set().release();
}

bound_primitive::~bound_primitive() {
  delete spare_.load();
}

std::unique_ptr<bound_primitive::argument_set> bound_primitive::make_set() const {
  auto made = std::make_unique<argument_set>();
  made->stream = dnnl::stream{cpu_engine()};
  for (const auto& [argument, desc] : arguments_) {
    made->memories.emplace_back(desc, cpu_engine(), static_cast<void*>(nullptr));
    made->arguments.push_back({argument, made->memories.back().get()});
  }
  return made;
}

result<void> bound_primitive::run(std::span<void* const> addresses) const {
  std::unique_ptr<argument_set> set{spare_.exchange(nullptr, std::memory_order_acquire)};
  if (!set)
    set = make_set();
  for (std::size_t i = 0; i < addresses.size(); ++i)
    dnnl_memory_set_data_handle(set->arguments[i].memory, addresses[i]);
  auto status =
      dnnl_primitive_execute(primitive_.get(), set->stream.get(),
                             static_cast<int>(set->arguments.size()), set->arguments.data());
  if (status == dnnl_success)
    status = dnnl_stream_wait(set->stream.get());
  set.reset(spare_.exchange(set.release(), std::memory_order_release));
  if (status != dnnl_success)
    return fail(errc::internal, "oneDNN: execution failed with status {}",
                static_cast<int>(status));
  return {};
}

bool is_reference(std::string_view implementation) noexcept {
  return implementation.find("ref") != std::string_view::npos;
}

bool is_gemm(std::string_view implementation) noexcept {
  return implementation.find("gemm:") != std::string_view::npos;
}

namespace {

// The form of a packed weight is its memory descriptor, byte for byte, behind a name that keeps
// other kernels' forms apart. Descriptors are plain structures in oneDNN 2 and die with the
// process.
constexpr std::string_view form_prefix = "onednn:";

std::string form_of(const memory_desc& desc) {
  std::string form{form_prefix};
  form.append(reinterpret_cast<const char*>(&desc.data), sizeof desc.data);
  return form;
}

std::optional<memory_desc> desc_of(std::string_view form) {
  memory_desc desc;
  if (!form.starts_with(form_prefix) || form.size() != form_prefix.size() + sizeof desc.data)
    return std::nullopt;
  std::memcpy(&desc.data, form.data() + form_prefix.size(), sizeof desc.data);
  return desc;
}

} // namespace

std::optional<memory_desc> pinned_layout(const weight_cache& weights, const tensor* weight,
                                         const memory_desc& wanted) {
  const auto form = weights.pinned_form(weight);
  if (!form)
    return std::nullopt;
  auto desc = desc_of(*form);
  if (!desc || desc->dims() != wanted.dims())
    return std::nullopt;
  return desc;
}

attempted<shared_bytes> pack(weight_cache& weights, const std::shared_ptr<const tensor>& weight,
                             const memory_desc& plain, const memory_desc& packed) {
  const auto reorder = [&](std::span<std::byte> to) -> result<void> {
    const auto done = attempt([&] {
      dnnl::stream stream{cpu_engine()};
      auto* from = const_cast<std::byte*>(weight->data.data()); // only read
      dnnl::memory source{plain, cpu_engine(), from};
      dnnl::memory target{packed, cpu_engine(), to.data()};
      dnnl::reorder{source, target}.execute(stream, source, target);
      stream.wait();
      return true;
    });
    if (!done)
      return fail(errc::internal, "packing a weight: {}", done.error());
    return {};
  };
  auto done = weights.find_or_pack(weight, form_of(packed), packed.get_size(), reorder);
  if (!done)
    return tl::unexpected<std::string>{std::move(done).error().text};
  return *std::move(done);
}

namespace {

class primitive_kernel final : public kernel {
public:
  primitive_kernel(std::string implementation, dnnl::primitive primitive,
                   std::vector<binding> arguments)
      : name_{"onednn:" + std::move(implementation)},
        arguments_{std::move(arguments)}, call_{std::move(primitive), arguments_} {
    for (const auto& argument : arguments_) {
      if (argument.from == binding::source::workspace)
        workspace_bytes_ = argument.desc.get_size();
      if (argument.from == binding::source::input)
        read_ |= std::uint64_t{1} << argument.index;
    }
  }

  std::string name() const override { return name_; }
  std::size_t workspace_bytes() const noexcept override { return workspace_bytes_; }
  bool reads(std::size_t index) const noexcept override {
    return index >= 64 || ((read_ >> index) & 1U) != 0;
  }

  result<void> launch(stream&, const kernel_args& args) const override {
    small_vector<void*, 12> addresses;
    for (const auto& argument : arguments_) {
      switch (argument.from) {
        case binding::source::input: addresses.push_back(args.inputs[argument.index].data); break;
        case binding::source::output: addresses.push_back(args.outputs[argument.index].data); break;
        case binding::source::workspace: addresses.push_back(args.workspace.data()); break;
        case binding::source::constant:
          addresses.push_back(const_cast<std::byte*>(argument.constant.data())); // only read
          break;
      }
    }
    return call_.run(addresses);
  }

private:
  std::string name_;
  std::vector<binding> arguments_;
  bound_primitive call_;
  std::size_t workspace_bytes_ = 0;
  std::uint64_t read_ = 0;
};

} // namespace

std::shared_ptr<const kernel> make_primitive_kernel(std::string implementation,
                                                    dnnl::primitive primitive,
                                                    std::vector<binding> arguments) {
  return std::make_shared<primitive_kernel>(std::move(implementation), std::move(primitive),
                                            std::move(arguments));
}

} // namespace troupe::cpu::onednn
