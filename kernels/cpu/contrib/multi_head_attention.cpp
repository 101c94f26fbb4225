// com.microsoft MultiHeadAttention-1: query [B, S, N H], key and value [B, L, …] or [B, N, L, …],
// FP32. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md

#include "kernels/cpu/contrib/kernels.hpp"
#include "kernels/cpu/contrib/multi_head_form.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::cpu {

namespace {

using namespace multi_head;
using attention_blocks::key_range;

// Rows of heads, [B, L, N H] or [B, N, L, H], with their bias behind the past ones into
// [B, N, P + L, H].
void collect(const form& of, const float* from, bool by_head, const float* added, const float* past,
             std::int64_t size, float* to) {
  const auto heads = of.core.heads;
  for (std::int64_t b = 0; b < of.core.batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      auto* out = to + (b * heads + h) * of.keys() * size;
      if (past != nullptr && of.past > 0)
        std::memcpy(out, past + (b * heads + h) * of.past * size,
                    static_cast<std::size_t>(of.past * size) * sizeof(float));
      out += of.past * size;
      for (std::int64_t s = 0; s < of.new_keys; ++s, out += size) {
        const auto* row = by_head ? from + ((b * heads + h) * of.new_keys + s) * size
                                  : from + ((b * of.new_keys + s) * heads + h) * size;
        for (std::int64_t c = 0; c < size; ++c)
          out[c] = row[c] + (added != nullptr && !by_head ? added[h * size + c] : 0.0F);
      }
    }
}

// What is added to the scores of keys by the mask: `masked_score` where it says 0.
void spread_mask(const form& of, const std::int32_t* marks, float* to) {
  const auto keys = of.keys();
  const auto count = of.marks();
  for (std::int64_t b = 0; b < of.core.batch; ++b)
    for (std::int64_t j = 0; j < count; ++j) {
      const bool counts =
          of.masked == mask_kind::lengths ? j % keys < marks[b] : marks[b * count + j] > 0;
      *to++ = counts ? 0.0F : of.masked_score;
    }
}

class multi_head_run {
public:
  multi_head_run(const form& of, const kernel_args& args)
      : of_{of}, args_{args}, left_{reinterpret_cast<float*>(args.workspace.data())} {}

  void run() {
    const auto& core = of_.core;
    attention_blocks::tensors with;
    auto* blocks = take(core.workspace() * core.members(of_.threads));
    const auto* offset = floats(bias);
    const auto width = core.heads * core.size;
    with.q = of_.biased ? shifted_queries(offset) : floats(query);
    with.k = brought(key, of_.keys_by_head, of_.gathers(of_.shows_keys, of_.keys_by_head),
                     offset ? offset + width : nullptr, past_key, core.size);
    with.v = brought(value, of_.values_by_head, of_.gathers(of_.shows_values, of_.values_by_head),
                     offset ? offset + 2 * width : nullptr, past_value, core.value_size);
    with.out = args_.outputs[0].as<float>();
    std::size_t step = 0;
    if (of_.masked != mask_kind::none) {
      auto* added = take(core.batch * of_.marks());
      spread_mask(of_, args_.inputs[mask].as<const std::int32_t>(), added);
      with.steps[step++] = added;
    }
    if (step < core.step_count)
      with.steps[step] = floats(scores_bias);
    if (of_.causal)
      with.ranges = causal_ranges();
    attention_blocks::run(core, with, of_.threads, blocks);
  }

  static std::int64_t floats_of(const form& of) {
    const auto& core = of.core;
    std::int64_t all = core.workspace() * core.members(of.threads) + core.batch * of.marks();
    if (of.biased)
      all += of.query_floats();
    if (of.gathers(of.shows_keys, of.keys_by_head) && !of.shows_keys)
      all += of.key_floats(core.size);
    if (of.gathers(of.shows_values, of.values_by_head) && !of.shows_values)
      all += of.key_floats(core.value_size);
    static_assert(sizeof(key_range) == 2 * sizeof(float));
    return all + (of.causal ? 2 * core.batch * core.queries : 0);
  }

private:
  const float* floats(std::size_t index) const {
    return has_data(args_, index) ? args_.inputs[index].as<const float>() : nullptr;
  }

  float* take(std::int64_t count) {
    auto* mine = left_;
    left_ += count;
    return mine;
  }

  const float* shifted_queries(const float* offset) {
    const auto width = of_.core.heads * of_.core.size;
    const auto* x = floats(query);
    auto* q = take(of_.query_floats());
    for (std::int64_t i = 0; i < of_.query_floats(); ++i)
      q[i] = x[i] + offset[i % width];
    return q;
  }

  const float* brought(std::size_t index, bool by_head, bool gathers, const float* offset,
                       std::size_t past, std::int64_t size) {
    if (!gathers)
      return floats(index);
    const bool wanted = index < args_.outputs.size() && args_.outputs[index].data != nullptr;
    auto* to = wanted ? args_.outputs[index].as<float>() : take(of_.key_floats(size));
    collect(of_, floats(index), by_head, offset, floats(past), size, to);
    return to;
  }

  const key_range* causal_ranges() {
    auto* ranges = reinterpret_cast<key_range*>(take(2 * of_.core.batch * of_.core.queries));
    for (std::int64_t i = 0; i < of_.core.batch * of_.core.queries; ++i)
      ranges[i] = {
          0, static_cast<std::int32_t>(std::min(of_.keys(), of_.past + i % of_.core.queries + 1))};
    return ranges;
  }

  const form& of_;
  const kernel_args& args_;
  float* left_;
};

} // namespace

made_kernel make_multi_head_attention(const kernel_spec& spec, weight_cache&) {
  const auto made = form_of(spec);
  if (!made)
    return tl::unexpected{made.error()};
  return make_kernel({.name = "blocks",
                      .workspace_bytes = static_cast<std::size_t>(multi_head_run::floats_of(*made))
                                         * sizeof(float)},
                     [of = *made](const kernel_args& args) {
                       multi_head_run{of, args}.run();
                     });
}

} // namespace troupe::cpu
