// Rotation of pairs of elements by angles that grow with the position. ONNX: RotaryEmbedding-23.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

namespace troupe::cpu {

namespace {

struct rotary_form {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t length = 0;
  std::int64_t head_size = 0;
  std::int64_t pairs = 0;     ///< that are rotated; the rest of a head is copied
  std::int64_t positions = 0; ///< of the caches, where they are looked up by position
  bool together = false;      ///< heads of a token lie next to each other
  bool interleaved = false;
};

result<void> run(const rotary_form& form, const kernel_args& args) {
  const auto x = input_numbers(args, 0);
  const auto cosines = input_numbers(args, 1);
  const auto sines = input_numbers(args, 2);
  const auto y = output_numbers(args, 0);
  const auto* ids = has_data(args, 3) ? args.inputs[3].as<const std::int64_t>() : nullptr;
  for (std::int64_t b = 0; b < form.batch; ++b)
    for (std::int64_t token = 0; token < form.length; ++token) {
      auto place = b * form.length + token;
      if (ids != nullptr) {
        place = ids[place];
        if (place < 0 || place >= form.positions)
          return fail(errc::invalid_argument, "positions in [0, {}) expected, {} found",
                      form.positions, place);
      }
      for (std::int64_t head = 0; head < form.heads; ++head) {
        const auto start = (form.together ? (b * form.length + token) * form.heads + head
                                          : (b * form.heads + head) * form.length + token)
                           * form.head_size;
        for (std::int64_t pair = 0; pair < form.pairs; ++pair) {
          const auto first = start + (form.interleaved ? 2 * pair : pair);
          const auto second = form.interleaved ? first + 1 : first + form.pairs;
          const double cosine = cosines[place * form.pairs + pair];
          const double sine = sines[place * form.pairs + pair];
          const double a = x[first];
          const double c = x[second];
          y.set(first, cosine * a - sine * c);
          y.set(second, sine * a + cosine * c);
        }
        for (auto i = 2 * form.pairs; i < form.head_size; ++i)
          y.set(start + i, x[start + i]);
      }
    }
  return {};
}

} // namespace

made_kernel make_reference_rotary_embedding(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec, 0, 3))
    return decline("{}", *why);
  const auto& x = spec.inputs[0].desc.dims;
  const auto& cache = spec.inputs[1].desc.dims;
  if ((x.size() != 3 && x.size() != 4) || spec.inputs[2].desc.dims != cache)
    return decline("tokens of rank 3 or 4 and equal caches expected, {}, {} and {} found",
                   to_string(x), to_string(cache), to_string(spec.inputs[2].desc.dims));
  rotary_form form;
  form.together = x.size() == 3;
  form.batch = x[0];
  form.heads = form.together ? spec.attributes->integer("num_heads", 0) : x[1];
  form.length = x[form.together ? 1 : 2];
  if (form.heads < 1 || x.back() % (form.together ? form.heads : 1) != 0)
    return decline("heads of {} expected, {} found", to_string(x), form.heads);
  form.head_size = form.together ? x[2] / form.heads : x[3];
  form.interleaved = spec.attributes->integer("interleaved", 0) != 0;
  const auto rotated = spec.attributes->integer("rotary_embedding_dim", 0);
  form.pairs = (rotated == 0 ? form.head_size : rotated) / 2;
  if (form.pairs < 0 || 2 * form.pairs > form.head_size)
    return decline("up to {} elements of a head expected, {} found", form.head_size, rotated);
  shape expected{form.batch, form.length, form.pairs};
  if (has_input(spec, 3)) {
    if (spec.inputs[3].desc.type != dtype::int64
        || spec.inputs[3].desc.dims != shape{form.batch, form.length})
      return decline("INT64 positions of each token expected, {} found",
                     to_string(spec.inputs[3].desc.dims));
    form.positions = cache.empty() ? 0 : cache[0];
    expected = {form.positions, form.pairs};
  }
  if (cache != expected)
    return decline("caches {} expected, {} found", to_string(expected), to_string(cache));
  return make_kernel({.overwrites = 1},
                     [form](const kernel_args& args) { return run(form, args); });
}

} // namespace troupe::cpu
