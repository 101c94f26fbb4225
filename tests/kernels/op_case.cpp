#include "tests/kernels/op_case.hpp"

#include "kernels/cpu/cpu_stream.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/strided_copy.hpp"
#include "kernels/cpu/threads.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::tests {

namespace {

// `from` laid out as `to`; both have strides.
std::shared_ptr<std::byte[]> laid_out(const std::byte* from, const tensor_desc& as,
                                      const tensor_desc& to) {
  auto block = allocate_aligned(to.bytes());
  const cpu::strided_box box{to.dims, cpu::strides_of(as), cpu::strides_of(to), size_of(to.type)};
  cpu::simplified(box).copy(from, block.get());
  return block;
}

} // namespace

op_case& op_case::add_input(dtype type, shape dims, std::span<const std::byte> bytes,
                            bool constant) {
  BOOST_REQUIRE_EQUAL(bytes.size(), static_cast<std::size_t>(element_count(dims)) * size_of(type));
  inputs_.push_back({true, constant, {type, std::move(dims), copy_of(bytes)}});
  return *this;
}

op_case& op_case::absent() {
  inputs_.push_back({false, false, {}});
  return *this;
}

result<op_case::outputs> op_case::run(std::span<const cpu::candidate> candidates,
                                      std::vector<tensor_desc> descs) const {
  std::vector<operand> operands;
  std::vector<tensor_view> views;
  std::vector<std::shared_ptr<std::byte[]>> blocks;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto& given = inputs_[i];
    const tensor_desc plain{given.content.type, given.content.dims};
    auto desc = plain;
    if (i == 0)
      desc.format = input_layout_;
    operands.push_back({given.present, desc,
                        given.constant ? std::make_shared<const tensor>(given.content) : nullptr});
    if (given.present)
      blocks.push_back(laid_out(given.content.data.data(), plain, desc));
    views.push_back({given.present ? blocks.back().get() : nullptr, desc});
  }
  auto plain_outputs = descs;
  descs[0].format = output_layout_;
  const cpu::kernel_thread prepared{1};
  const std::vector<post_op> no_post_ops;
  const std::unique_ptr<bool[]> wanted{new bool[descs.size()]};
  std::fill_n(wanted.get(), descs.size(), true);
  const kernel_spec spec{
      domain_,     op_type_, version_, &attributes_, operands, descs, {wanted.get(), descs.size()},
      no_post_ops, 1};
  weight_cache weights;
  const auto choice = cpu::choose_from(candidates, spec, weights);
  if (!choice)
    return propagate(choice);
  BOOST_TEST_CONTEXT(op_type_ << " by " << choice->chosen->name()) {
    std::vector<tensor_view> results;
    for (const auto& desc : descs) {
      blocks.push_back(allocate_aligned(desc.bytes()));
      std::fill_n(blocks.back().get(), desc.bytes(), std::byte{0x7f});
      results.push_back({blocks.back().get(), desc});
    }
    for (std::size_t i = 0; i < views.size(); ++i)
      if (!choice->chosen->reads(i))
        views[i].data = nullptr;
    const auto workspace = allocate_aligned(choice->chosen->workspace_bytes());
    const auto on = cpu::open_cpu_stream(stream_mode::inline_, 1);
    if (auto launched = choice->chosen->launch(
            *on, {views, results, {workspace.get(), choice->chosen->workspace_bytes()}});
        !launched)
      return propagate(launched);
    outputs found;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto block = laid_out(results[i].data, descs[i], plain_outputs[i]);
      found.emplace_back(block.get(), block.get() + plain_outputs[i].bytes());
    }
    return found;
  }
  return outputs{};
}

void op_case::check_all(std::vector<tensor_desc> descs, const verdict& judge) const {
  const auto candidates = cpu::candidates_for(domain_, op_type_);
  BOOST_REQUIRE_MESSAGE(!candidates.empty(), op_type_ << " has no candidate");
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto found = run(candidates.subspan(i, 1), descs);
    if (!found && i + 1 < candidates.size() && found.error().code == errc::unimplemented)
      continue; // declined
    BOOST_REQUIRE_MESSAGE(found.has_value(), (found ? std::string{} : found.error().text));
    BOOST_TEST_CONTEXT(op_type_ << " by candidate " << candidates[i].name)
    judge(*found);
  }
}

void op_case::check_truth(shape dims, const std::vector<std::uint8_t>& expected) const {
  check_all({{dtype::boolean, std::move(dims)}}, [&](const outputs& found) { //
    compare(expected, found[0], 0);
  });
}

std::string op_case::refusal(dtype type, shape dims) const {
  const auto found = run(cpu::candidates_for(domain_, op_type_), {{type, std::move(dims)}});
  BOOST_REQUIRE(!found);
  BOOST_TEST(to_string(found.error().code) == to_string(errc::unimplemented));
  return found.error().text;
}

std::string op_case::launch_error(dtype type, shape dims) const {
  const auto found = run(cpu::candidates_for(domain_, op_type_), {{type, std::move(dims)}});
  BOOST_REQUIRE(!found);
  BOOST_TEST(to_string(found.error().code) == to_string(errc::invalid_argument));
  return found.error().text;
}

std::vector<float> counted(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

} // namespace troupe::tests
