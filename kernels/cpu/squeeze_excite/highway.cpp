// Squeeze-and-excite in one kernel: an image is summed and scaled while it is still in the cache,
// and the two products in between are read in one stream each.

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/placement.hpp"
#include "kernels/cpu/rows/fold_rows.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/squeeze_excite/gates.hpp"
#include "kernels/op/squeeze_excite.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

using namespace squeeze_excite;
using gates::form;

tl::expected<fused_steps, std::string> activations(const kernel_spec& spec, std::string_view name) {
  const auto steps = steps_in(*spec.attributes, name);
  if (steps.size() > fused_steps::limit)
    return decline("more than {} activations", fused_steps::limit);
  fused_steps made;
  std::ranges::copy(steps, made.steps.begin());
  made.count = steps.size();
  return made;
}

tl::expected<form, std::string> form_of(const kernel_spec& spec) {
  if (auto why = not_plain_float(spec, input_count))
    return decline("{}", *why);
  const auto& image = spec.inputs[x].desc;
  if (image.dims.size() != 4 || !lies_channels_last(image) || !lies_channels_last(spec.outputs[0]))
    return decline("{}, images that lie channels-last expected", to_string(image.dims));
  for (const auto weight : {squeeze_weights, excite_weights})
    if (!spec.inputs[weight].constant)
      return decline("weights that are not constant");
  form made{.images = image.dims[0],
            .positions = image.dims[2] * image.dims[3],
            .channels = image.dims[1],
            .squeezed = spec.inputs[squeeze_weights].desc.dims[0],
            .squeeze = {},
            .excite = {},
            .after = {}};
  if (image.elements() == 0 || made.squeezed == 0)
    return decline("an empty tensor");
  const auto squeeze = activations(spec, squeeze_steps);
  const auto excite = activations(spec, excite_steps);
  const auto after = fused_steps::make(spec);
  if (!squeeze || !excite || !after)
    return tl::unexpected{!squeeze ? squeeze.error() : !excite ? excite.error() : after.error()};
  made.squeeze = *squeeze;
  made.excite = *excite;
  made.after = *after;
  return made;
}

template <class Pack>
tl::expected<shared_bytes, std::string> packed_by(weight_cache& weights, const kernel_spec& spec,
                                                  std::size_t input, std::string_view name,
                                                  std::int64_t floats, const Pack& pack) {
  const auto& constant = spec.inputs[input].constant;
  auto packed = weights.find_or_pack(constant, fmt::format("{}:{}", name, gates::vector_lanes()),
                                     static_cast<std::size_t>(floats) * sizeof(float),
                                     [&](std::span<std::byte> to) -> result<void> {
                                       pack(elements_of<float>(constant->data).data(),
                                            reinterpret_cast<float*>(to.data()));
                                       return {};
                                     });
  if (!packed)
    return tl::unexpected{std::move(packed).error().text};
  return *std::move(packed);
}

// to[c] = the sums over positions. Few channels would leave most of a vector empty, and sums of one
// vector wait for each other: many positions are summed as if they were channels, then those.
void sum_positions(const form& of, const float* from, std::int64_t positions, float* wide,
                   float* to) {
  const auto together = of.period() / of.channels;
  const auto rows = positions / together;
  if (rows < 2)
    return fold_rows(from, of.channels, positions, to, of.channels);
  fold_rows(from, of.period(), rows, wide, of.period());
  fold_rows(wide, of.channels, together, to, of.channels);
  fold_rows(from + rows * of.period(), of.channels, positions - rows * together, wide, of.channels);
  for (std::int64_t c = 0; c < of.channels; ++c)
    to[c] += wide[c];
}

/// One launch. Members of the team have whole images each, or share every image.
class gating {
public:
  gating(const form& of, const kernel_args& args, const gates::weights& with, int threads)
      : of_{of}, with_{with}, threads_{threads}, x_{args.inputs[x].as<const float>()},
        y_{args.outputs[0].as<float>()}, operands_{of.after.operands(args)},
        scratch_{reinterpret_cast<float*>(args.workspace.data())} {}

  /// Floats of workspace for each member: sums, what the gates need, and the gates.
  static std::int64_t workspace(const form& of) {
    return of.padded_channels() + of.workspace() + of.period();
  }

  void run() const {
    if (of_.images % threads_ == 0 || of_.images >= 4 * threads_)
      run_images_apart();
    else
      for (std::int64_t image = 0; image < of_.images; ++image)
        run_shared(image);
  }

private:
  void run_images_apart() const {
    parallel_for(threads_, threads_, of_.images * size() / threads_,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto member = begin; member < end; ++member)
                     for (auto image = of_.images * member / threads_;
                          image < of_.images * (member + 1) / threads_; ++image) {
                       auto* sums = scratch(member);
                       sum_positions(of_, x_ + image * size(), of_.positions, gates_of(sums), sums);
                       apply(image, gates_from(sums), 0, size());
                     }
                 });
  }

  void run_shared(std::int64_t image) const {
    const auto share = size() / threads_;
    parallel_for(threads_, threads_, share, [&](std::int64_t begin, std::int64_t end) {
      for (auto member = begin; member < end; ++member) {
        const auto first = of_.positions * member / threads_;
        const auto count = of_.positions * (member + 1) / threads_ - first;
        auto* sums = scratch(member);
        sum_positions(of_, x_ + image * size() + first * of_.channels, count, gates_of(sums), sums);
      }
    });
    auto* sums = scratch(0);
    for (std::int64_t member = 1; member < threads_; ++member)
      for (std::int64_t c = 0; c < of_.channels; ++c)
        sums[c] += scratch(member)[c];
    const auto* repeated = gates_from(sums);
    const auto periods = (size() + of_.period() - 1) / of_.period();
    parallel_for(threads_, periods, of_.period(), [&](std::int64_t begin, std::int64_t end) {
      apply(image, repeated, begin * of_.period(), std::min(end * of_.period(), size()));
    });
  }

  [[nodiscard]] std::int64_t size() const { return of_.positions * of_.channels; }
  [[nodiscard]] float* scratch(std::int64_t member) const {
    return scratch_ + member * workspace(of_);
  }

  // Where a member's gates lie; before there are any, room for sums.
  [[nodiscard]] float* gates_of(float* sums) const {
    return sums + of_.padded_channels() + of_.workspace();
  }

  [[nodiscard]] const float* gates_from(float* sums) const {
    auto* repeated = gates_of(sums);
    gates::compute_gates(of_, with_, sums, sums + of_.padded_channels(), repeated);
    return repeated;
  }

  void apply(std::int64_t image, const float* repeated, std::int64_t begin,
             std::int64_t end) const {
    auto operands = operands_;
    for (auto& operand : operands)
      if (operand != nullptr)
        operand += image * size();
    gates::apply_gates(of_, x_ + image * size(), repeated, operands, begin, end,
                       y_ + image * size());
  }

  const form& of_;
  const gates::weights& with_;
  int threads_;
  const float* x_;
  float* y_;
  std::array<const float*, fused_steps::limit> operands_;
  float* scratch_;
};

} // namespace

made_kernel make_highway_squeeze_excite(const kernel_spec& spec, weight_cache& weights) {
  auto of = form_of(spec);
  if (!of)
    return tl::unexpected{std::move(of).error()};
  auto squeeze =
      packed_by(weights, spec, squeeze_weights, "squeeze", of->packed_squeeze(),
                [&](const float* from, float* to) { gates::pack_squeeze(*of, from, to); });
  auto excite = packed_by(weights, spec, excite_weights, "excite", of->packed_excite(),
                          [&](const float* from, float* to) { gates::pack_excite(*of, from, to); });
  if (!squeeze || !excite)
    return tl::unexpected{squeeze ? excite.error() : squeeze.error()};
  constexpr auto bit = [](std::size_t input) { return std::uint64_t{1} << input; };
  kernel_facts facts{.name = "highway",
                     .workspace_bytes = static_cast<std::size_t>(gating::workspace(*of))
                                        * static_cast<std::size_t>(spec.threads) * sizeof(float),
                     .overwrites = bit(x),
                     .unread = bit(squeeze_weights) | bit(excite_weights)};
  for (std::size_t i = 0; i < of->after.count; ++i)
    if (of->after.steps[i].kind == post_op_kind::add && of->after.steps[i].operand < 64)
      facts.overwrites |= bit(of->after.steps[i].operand);
  return make_kernel(std::move(facts), [of = *of, squeeze = *std::move(squeeze),
                                        excite = *std::move(excite),
                                        threads = spec.threads](const kernel_args& args) {
    const auto bias = [&](std::size_t input) {
      return has_data(args, input) ? args.inputs[input].as<const float>() : nullptr;
    };
    const gates::weights with{elements_of<float>(squeeze).data(), bias(squeeze_bias),
                              elements_of<float>(excite).data(), bias(excite_bias)};
    gating{of, args, with, threads}.run();
  });
}

} // namespace troupe::cpu
