// Opset 7 gave binary operators numpy's broadcasting and took training out of BatchNormalization
// and Dropout. Before it, an operand lay along `axis` of the other one. What was exported then and
// can be said in opset 7's terms is said so here, once, and nothing behind knows of it.

#include "runtime/onnx/raise_opset.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::onnx {

namespace {

using graph::value_id;

// Of the nodes that are added.
constexpr int helper_version = 13;

class raiser {
public:
  raiser(graph::node& of, graph::graph& in) : of_{of}, in_{in} {}

  graph::node& of() { return of_; }
  attribute_map& attributes() { return of_.attributes; }

  value_id constant(std::vector<std::int64_t> content) {
    return constant(dtype::int64, {static_cast<std::int64_t>(content.size())},
                    std::as_bytes(std::span{content}));
  }

  value_id add(std::string_view op_type, std::vector<value_id> inputs) {
    graph::node made;
    made.name = of_.name + "/" + std::string{op_type};
    made.op_type = op_type;
    made.version = helper_version;
    if (op_type == "Concat")
      made.attributes.set("axis", std::int64_t{0});
    if (op_type == "ConstantOfShape")
      made.attributes.set("value", ones());
    made.inputs = std::move(inputs);
    const auto output = in_.add_value({.name = made.name + ":" + std::to_string(added_++)});
    made.outputs = {output};
    in_.add_node(std::move(made));
    return output;
  }

  /// Input `index` with as many axes of size 1 behind its own as put them on those of `along` from
  /// `axis` on.
  void lay_along(std::size_t index, value_id along, std::int64_t axis) {
    const auto operand = of_.inputs[index];
    const auto dims = add("Shape", {operand});
    const auto rank = add("Shape", {dims});
    const auto rank_around = add("Shape", {add("Shape", {along})});
    const auto behind =
        add("Sub", {rank_around, add("Add", {rank, constant(std::vector<std::int64_t>{axis})})});
    const auto count = add("Max", {behind, constant(std::vector<std::int64_t>{0})});
    const auto to = add("Concat", {dims, add("ConstantOfShape", {count})});
    of_.inputs[index] = add("Reshape", {operand, to});
  }

private:
  static tensor ones() {
    const std::array one{std::int64_t{1}};
    return {dtype::int64, {1}, copy_of(std::as_bytes(std::span{one}))};
  }

  value_id constant(dtype type, shape dims, std::span<const std::byte> content) {
    auto made = std::make_shared<const tensor>(tensor{type, dims, copy_of(content)});
    return in_.add_value({.name = of_.name + "/constant",
                          .type = type,
                          .dims = graph::symbolic(dims),
                          .constant = std::move(made)});
  }

  graph::node& of_;
  graph::graph& in_;
  int added_ = 0;
};

using raise = result<void> (*)(raiser& with);

// `axis` is where the second operand begins in the first; without it the operand lies along the
// last axes, as since opset 7.
result<void> broadcast_along(raiser& with) {
  auto& attributes = with.attributes();
  const bool broadcasts = attributes.integer("broadcast", 0) != 0;
  const bool placed = attributes.has("axis");
  const auto axis = attributes.integer("axis", 0);
  attributes.erase("axis");
  attributes.erase("broadcast");
  if (!broadcasts || !placed)
    return {};
  if (axis < 0)
    return fail(errc::unimplemented, "broadcasting along axis {} is not supported", axis);
  if (with.of().inputs.size() != 2)
    return fail(errc::invalid_argument, "2 inputs expected, {} found", with.of().inputs.size());
  with.lay_along(1, with.of().inputs[0], axis);
  return {};
}

// A slope for each channel lay along axis 1.
result<void> slope_of_channels(raiser& with) {
  if (with.of().inputs.size() != 2)
    return fail(errc::invalid_argument, "2 inputs expected, {} found", with.of().inputs.size());
  with.lay_along(1, with.of().inputs[0], 1);
  return {};
}

result<void> drop_broadcast(raiser& with) {
  with.attributes().erase("broadcast");
  return {};
}

result<void> refuse_training(raiser& with) {
  if (with.attributes().integer("is_test", 0) == 0)
    return fail(errc::unimplemented, "it trains: is_test 1 expected");
  with.attributes().erase("is_test");
  return {};
}

// Whether the sequence is wanted is said by the output's name alone.
result<void> drop_output_sequence(raiser& with) {
  with.attributes().erase("output_sequence");
  return {};
}

void rename_attribute(attribute_map& in, const std::string& from, const std::string& to) {
  if (const auto* written = in.find<std::vector<std::int64_t>>(from); written != nullptr) {
    in.set(to, *written);
    in.erase(from);
  }
}

result<void> pads_by_their_name(raiser& with) {
  rename_attribute(with.attributes(), "paddings", "pads");
  return {};
}

result<void> shape_as_input(raiser& with) {
  auto& attributes = with.attributes();
  if (const auto* shape = attributes.find<std::vector<std::int64_t>>("shape");
      shape != nullptr && with.of().inputs.size() == 1)
    with.of().inputs.push_back(with.constant(*shape));
  attributes.erase("shape");
  return {};
}

result<void> parts_as_attribute(raiser& with) {
  if (with.of().inputs.size() > 1)
    return fail(errc::unimplemented, "sizes of its parts in an input are not supported");
  return {};
}

result<void> join_along_axis_1(raiser& with) {
  if (!with.attributes().has("axis"))
    with.attributes().set("axis", std::int64_t{1});
  return {};
}

// Constants with fewer digits than since opset 6.
result<void> short_constants(raiser& with) {
  auto& attributes = with.attributes();
  attributes.set("alpha", attributes.real("alpha", 1.6732F));
  attributes.set("gamma", attributes.real("gamma", 1.0507F));
  return {};
}

result<void> scales_of_all_axes(raiser& with) {
  auto& attributes = with.attributes();
  const auto height = attributes.real("height_scale", 0);
  const auto width = attributes.real("width_scale", 0);
  if (height < 1 || width < 1)
    return fail(errc::invalid_argument,
                "height_scale and width_scale of 1 or more expected, {} and {} found", height,
                width);
  attributes.set("scales", std::vector<float>{1, 1, height, width});
  if (attributes.text("mode", "nearest") == "bilinear")
    attributes.set("mode", std::string{"linear"});
  attributes.erase("height_scale");
  attributes.erase("width_scale");
  return {};
}

struct raise_entry {
  std::string_view op_type;
  int below; ///< the version that brought the form of opset 7
  raise by;  ///< null: there is no such form
};

constexpr std::array entries{
    raise_entry{"Add", 7, broadcast_along},
    raise_entry{"And", 7, broadcast_along},
    raise_entry{"BatchNormalization", 7, refuse_training},
    raise_entry{"Cast", 6, nullptr},
    raise_entry{"Concat", 4, join_along_axis_1},
    raise_entry{"Div", 7, broadcast_along},
    raise_entry{"Dropout", 7, refuse_training},
    raise_entry{"Equal", 7, broadcast_along},
    raise_entry{"GRU", 7, drop_output_sequence},
    raise_entry{"Gemm", 7, drop_broadcast},
    raise_entry{"GlobalLpPool", 2, nullptr},
    raise_entry{"Greater", 7, broadcast_along},
    raise_entry{"LSTM", 7, drop_output_sequence},
    raise_entry{"Less", 7, broadcast_along},
    raise_entry{"LpPool", 2, nullptr},
    raise_entry{"Mul", 7, broadcast_along},
    raise_entry{"Or", 7, broadcast_along},
    raise_entry{"PRelu", 7, slope_of_channels},
    raise_entry{"Pad", 2, pads_by_their_name},
    raise_entry{"Pow", 7, broadcast_along},
    raise_entry{"RNN", 7, drop_output_sequence},
    raise_entry{"Reshape", 5, shape_as_input},
    raise_entry{"Selu", 6, short_constants},
    raise_entry{"Split", 2, parts_as_attribute},
    raise_entry{"Sub", 7, broadcast_along},
    raise_entry{"Tile", 6, nullptr},
    raise_entry{"Upsample", 7, scales_of_all_axes},
    raise_entry{"Xor", 7, broadcast_along},
};

const raise_entry* find(std::string_view op_type, int version) {
  const auto found = std::ranges::find(entries, op_type, &raise_entry::op_type);
  return found != entries.end() && version < found->below ? found : nullptr;
}

} // namespace

result<void> check_old_operator(const std::string& op_type, int version) {
  const auto* entry = find(op_type, version);
  if (entry != nullptr && entry->by == nullptr)
    return fail(errc::unimplemented, "its form of opset {} is not supported: opset {} or newer",
                version, entry->below);
  return {};
}

result<void> raise_to_opset_7(graph::node& of, graph::graph& in) {
  const auto version = std::exchange(of.version, raised_opset);
  of.attributes.erase("consumed_inputs"); // hints for computing in place, gone since opset 6
  const auto* entry = find(of.op_type, version);
  if (entry == nullptr)
    return {};
  raiser with{of, in};
  if (auto done = entry->by(with); !done)
    return fail(done.error().code, "opset {}: {}", version, done.error().text);
  return {};
}

} // namespace troupe::onnx
