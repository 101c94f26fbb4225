#include "tests/kernels/candidate_runner.hpp"

#include "kernels/cpu/cpu_stream.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/threads.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace troupe::tests {
namespace {

std::vector<float> moved(const float* from, const tensor_desc& as, const tensor_desc& to) {
  // Both have the same sizes; walks the axes as written.
  const auto source = cpu::strides_of(as);
  const auto target = cpu::strides_of(to);
  std::vector<float> result(static_cast<std::size_t>(as.elements()));
  shape at(as.dims.size(), 0);
  for (std::int64_t count = as.elements(); count > 0; --count) {
    std::int64_t read = 0;
    std::int64_t write = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      read += at[axis] * source[axis];
      write += at[axis] * target[axis];
    }
    result[static_cast<std::size_t>(write)] = from[read];
    for (std::size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < as.dims[axis])
        break;
      at[axis] = 0;
    }
  }
  return result;
}

std::shared_ptr<std::byte[]> aligned_copy(const std::vector<float>& values) {
  auto block = allocate_aligned(std::max<std::size_t>(values.size(), 1) * sizeof(float));
  if (!values.empty())
    std::memcpy(block.get(), values.data(), values.size() * sizeof(float));
  return block;
}

} // namespace

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine{seed};
  std::vector<float> values(count);
  for (auto& value : values)
    value = static_cast<float>(engine() >> 8) / static_cast<float>(1U << 23) - 1.0F;
  return values;
}

candidate_runner::candidate_runner(kernel_case node, std::uint32_t seed) : node_{std::move(node)} {
  for (const auto& dims : node_.inputs) {
    const auto values = random_values(static_cast<std::size_t>(element_count(dims)), seed++);
    const auto bytes = std::as_bytes(std::span{values});
    tensors_.push_back(std::make_shared<tensor>(tensor{dtype::float32, dims, copy_of(bytes)}));
  }
}

void candidate_runner::share_constants(const candidate_runner& other) {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (node_.constant[i])
      tensors_[i] = other.tensors_[i];
}

bool candidate_runner::is_activation(std::size_t input) const {
  return input == 0 || (!node_.constant[input] && node_.inputs[input] == node_.output);
}

std::size_t candidate_runner::candidates() const {
  return cpu::candidates_for(node_.domain, node_.op_type).size();
}

candidate_run candidate_runner::run(std::size_t index, weight_cache& weights) const {
  return run(cpu::candidates_for(node_.domain, node_.op_type)[index], weights);
}

candidate_run candidate_runner::run(const cpu::candidate& from, weight_cache& weights) const {
  std::vector<operand> inputs;
  std::vector<tensor_view> views;
  std::vector<std::shared_ptr<std::byte[]>> blocks;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    tensor_desc desc{dtype::float32, node_.inputs[i], layout::row_major};
    if (is_activation(i))
      desc.format = node_.format;
    const tensor_desc plain{dtype::float32, node_.inputs[i], layout::row_major};
    blocks.push_back(
        aligned_copy(moved(elements_of<float>(tensors_[i]->data).data(), plain, desc)));
    inputs.push_back({true, desc, node_.constant[i] ? tensors_[i] : nullptr});
    views.push_back({blocks.back().get(), desc});
  }
  const tensor_desc plain{dtype::float32, node_.output, layout::row_major};
  const tensor_desc output{dtype::float32, node_.output,
                           node_.output_format.value_or(node_.format)};
  const bool wanted = true;
  const cpu::kernel_thread prepared{node_.threads};
  const kernel_spec spec{node_.domain, node_.op_type, node_.version,  &node_.attributes, inputs,
                         {&output, 1}, {&wanted, 1},  node_.post_ops, node_.threads};
  candidate_run done;
  const auto choice = cpu::choose_from({&from, 1}, spec, weights);
  if (!choice) {
    done.reason = choice.error().text;
    return done;
  }
  done.taken = true;
  done.name = choice->chosen->name();
  for (std::size_t i = 0; i < views.size(); ++i)
    if (!choice->chosen->reads(i))
      views[i].data = nullptr;
  const auto count = static_cast<std::size_t>(element_count(node_.output));
  const std::vector<float> unwritten(count, std::nanf(""));
  const auto result = aligned_copy(unwritten);
  const auto workspace = allocate_aligned(choice->chosen->workspace_bytes() + 1);
  const tensor_view target{result.get(), output};
  const auto on = cpu::open_cpu_stream(stream_mode::inline_, node_.threads);
  const auto launched = choice->chosen->launch(
      *on, {views, {&target, 1}, {workspace.get(), choice->chosen->workspace_bytes()}});
  BOOST_TEST(launched.has_value(), (launched ? "" : launched.error().text));
  done.output = moved(reinterpret_cast<const float*>(result.get()), output, plain);
  return done;
}

candidate_run candidate_runner::run_reference() const {
  auto plain = *this;
  plain.node_.format = layout::row_major;
  plain.node_.output_format.reset();
  weight_cache weights;
  return plain.run(candidates() - 1, weights);
}

void check_candidates(const kernel_case& node, std::string_view expected, float tolerance) {
  const candidate_runner runner{node};
  const auto reference = runner.run_reference();
  BOOST_REQUIRE_MESSAGE(reference.taken, "no reference: " << reference.reason);
  // Debian's oneDNN has few kernels for other processors and may decline there; whatever does take
  // the case is compared all the same.
#if defined(__x86_64__)
  constexpr bool needs_onednn = true;
#else
  constexpr bool needs_onednn = false;
#endif
  bool seen = expected == "reference" || (!needs_onednn && expected.starts_with("onednn"));
  std::string declined;
  // In another layout the reference kernel is one more candidate: it must read both.
  const auto tried = runner.candidates() - (node.format == layout::row_major ? 1 : 0);
  for (std::size_t i = 0; i < tried; ++i) {
    weight_cache weights;
    const auto made = runner.run(i, weights);
    if (!made.taken) {
      declined += "\n  " + made.reason;
      continue;
    }
    seen = seen || std::string_view{made.name}.starts_with(expected);
    float worst = 0.0F;
    float largest = 1.0F;
    for (std::size_t at = 0; at < reference.output.size(); ++at) {
      const float difference = std::abs(made.output[at] - reference.output[at]);
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
      largest = std::max(largest, std::abs(reference.output[at]));
    }
    BOOST_TEST(worst <= tolerance * largest, made.name << " differs by " << worst
                                                       << " for an input of "
                                                       << to_string(node.inputs[0]));
  }
  BOOST_TEST(seen, "no candidate " << expected << " took an input of " << to_string(node.inputs[0])
                                   << ":" << declined);
}

} // namespace troupe::tests
