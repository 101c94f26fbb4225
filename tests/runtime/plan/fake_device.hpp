#pragma once

// A device whose kernels compute something that any misplaced tensor changes: each element of an
// output mixes the elements of all inputs, found by their logical position whatever the layout.

#include "kernels/cpu/iteration.hpp"
#include "kernels/device/device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

/// What the kernels of an operator do; "mix" at the same position, "reversed" at the mirrored one.
[[nodiscard]] inline bool works_in_place(std::string_view op) {
  return op == "Relu" || op == "Add" || op == "Sigmoid";
}

[[nodiscard]] inline std::size_t offset_of(const tensor_desc& desc, std::size_t position) {
  const auto strides = cpu::strides_of(desc);
  std::size_t offset = 0;
  for (std::size_t axis = desc.dims.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(desc.dims[axis]);
    offset += position % size * static_cast<std::size_t>(strides[axis]);
    position /= size;
  }
  return offset;
}

/// The numbers of a tensor in logical order.
[[nodiscard]] inline std::vector<float> logical(const tensor_view& of) {
  std::vector<float> read(static_cast<std::size_t>(of.desc.elements()));
  for (std::size_t position = 0; position < read.size(); ++position)
    read[position] = of.as<const float>()[offset_of(of.desc, position)];
  return read;
}

/// What operator `op` makes of inputs in logical order; small whole numbers, so that it is exact.
[[nodiscard]] inline std::vector<float>
mixed(std::string_view op, const std::vector<std::vector<float>>& inputs, std::size_t count) {
  std::vector<float> made(count);
  for (std::size_t position = 0; position < count; ++position) {
    std::uint32_t sum = static_cast<std::uint32_t>(op.size());
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const auto& input = inputs[index];
      if (input.empty())
        continue;
      const auto at =
          works_in_place(op) ? position % input.size() : (count - 1 - position) % input.size();
      sum =
          sum * 31 + static_cast<std::uint32_t>(input[at]) * static_cast<std::uint32_t>(index + 3);
    }
    made[position] = static_cast<float>(sum % 65521);
  }
  return made;
}

class fake_kernel final : public kernel {
public:
  explicit fake_kernel(const kernel_spec& of)
      : op_{of.op_type}, output_{of.outputs[0]}, workspace_{of.op_type == "Softmax" ? 100U : 0U} {
    for (const auto& input : of.inputs)
      inputs_.push_back(input.desc);
  }

  std::string name() const override { return "fake"; }
  std::size_t workspace_bytes() const noexcept override { return workspace_; }
  bool can_overwrite(std::size_t input) const noexcept override {
    return works_in_place(op_) && inputs_[input] == output_;
  }

  result<void> launch(stream&, const kernel_args& args) const override {
    if (args.workspace.size() != workspace_)
      return fail(errc::internal, "a workspace of {} bytes came", args.workspace.size());
    std::vector<std::vector<float>> inputs;
    for (const auto& input : args.inputs)
      inputs.push_back(logical(input));
    std::ranges::fill(args.workspace, std::byte{0xff});
    const auto& output = args.outputs[0];
    const auto count = static_cast<std::size_t>(output.desc.elements());
    const bool moves = op_ == "Reorder" || op_ == "Identity";
    const auto made = moves ? inputs[0] : mixed(op_, inputs, count);
    for (std::size_t position = 0; position < count; ++position)
      output.as<float>()[offset_of(output.desc, position)] = made[position];
    return {};
  }

private:
  std::string op_;
  tensor_desc output_;
  std::size_t workspace_;
  std::vector<tensor_desc> inputs_;
};

class fake_stream final : public stream {
public:
  void submit(issue_fn issue, done_fn done) override { done(issue(*this)); }
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  result<std::unique_ptr<event>> record() override {
    return fail(errc::unimplemented, "no events");
  }
  void synchronize() override {}
};

class fake_device : public device {
public:
  std::map<std::string, layout_rule, std::less<>> rules; ///< row_major_only where there is none
  std::vector<std::string> chosen;                       ///< operators in the order of the calls

  const device_properties& properties() const noexcept override { return properties_; }
  result<std::unique_ptr<buffer>> allocate(std::size_t) override {
    return fail(errc::unimplemented, "no buffers");
  }
  result<std::unique_ptr<stream>> open_stream(stream_mode) override {
    return std::make_unique<fake_stream>();
  }
  layout_rule layouts(const kernel_spec& of) const override {
    const auto known = rules.find(of.op_type);
    return known == rules.end() ? layout_rule::row_major_only : known->second;
  }
  result<kernel_choice> choose_kernel(const kernel_spec& of, weight_cache&) override {
    if (of.op_type == "Erf")
      return fail(errc::unimplemented, "nobody takes it");
    chosen.emplace_back(of.op_type);
    return kernel_choice{std::make_shared<fake_kernel>(of), "fake", {}};
  }

private:
  device_properties properties_{.name = "fake", .kind = "fake"};
};

} // namespace troupe::test
