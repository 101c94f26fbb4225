#include "runtime/onnx/attribute_reader.hpp"

#include "runtime/graph/onnx_type.hpp"
#include "runtime/onnx/function_inliner.hpp"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/value_type.hpp"

#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

namespace troupe::onnx {

namespace {

using type_of_attribute = AttributeProto::AttributeType;

struct typed_name {
  std::string_view name;
  type_of_attribute type;
};

// ONNX uses a name with one type in all the operators that Troupe runs.
constexpr std::array names{
    typed_name{"allowzero", AttributeProto::INT},
    typed_name{"alpha", AttributeProto::FLOAT},
    typed_name{"approximate", AttributeProto::STRING},
    typed_name{"auto_pad", AttributeProto::STRING},
    typed_name{"axes", AttributeProto::INTS},
    typed_name{"axis", AttributeProto::INT},
    typed_name{"beta", AttributeProto::FLOAT},
    typed_name{"ceil_mode", AttributeProto::INT},
    typed_name{"coordinate_transformation_mode", AttributeProto::STRING},
    typed_name{"count_include_pad", AttributeProto::INT},
    typed_name{"cubic_coeff_a", AttributeProto::FLOAT},
    typed_name{"dilations", AttributeProto::INTS},
    typed_name{"end", AttributeProto::INT},
    typed_name{"ends", AttributeProto::INTS},
    typed_name{"epsilon", AttributeProto::FLOAT},
    typed_name{"exclude_outside", AttributeProto::INT},
    typed_name{"gamma", AttributeProto::FLOAT},
    typed_name{"group", AttributeProto::INT},
    typed_name{"keepdims", AttributeProto::INT},
    typed_name{"kernel_shape", AttributeProto::INTS},
    typed_name{"max", AttributeProto::FLOAT},
    typed_name{"min", AttributeProto::FLOAT},
    typed_name{"mode", AttributeProto::STRING},
    typed_name{"nearest_mode", AttributeProto::STRING},
    typed_name{"noop_with_empty_axes", AttributeProto::INT},
    typed_name{"num_outputs", AttributeProto::INT},
    typed_name{"output_padding", AttributeProto::INTS},
    typed_name{"output_shape", AttributeProto::INTS},
    typed_name{"pads", AttributeProto::INTS},
    typed_name{"perm", AttributeProto::INTS},
    typed_name{"ratio", AttributeProto::FLOAT},
    typed_name{"scales", AttributeProto::FLOATS},
    typed_name{"select_last_index", AttributeProto::INT},
    typed_name{"split", AttributeProto::INTS},
    typed_name{"stash_type", AttributeProto::INT},
    typed_name{"start", AttributeProto::INT},
    typed_name{"starts", AttributeProto::INTS},
    typed_name{"steps", AttributeProto::INTS},
    typed_name{"storage_order", AttributeProto::INT},
    typed_name{"strides", AttributeProto::INTS},
    typed_name{"to", AttributeProto::INT},
    typed_name{"transA", AttributeProto::INT},
    typed_name{"transB", AttributeProto::INT},
};

result<void> check_type(const AttributeProto& from) {
  for (const auto& known : names)
    if (known.name == from.name() && known.type != from.type())
      return fail(errc::invalid_argument, "type {} expected, {} found",
                  AttributeProto::AttributeType_Name(known.type),
                  AttributeProto::AttributeType_Name(from.type()));
  return {};
}

result<attribute> read_attribute(const AttributeProto& from, tensor_reader& tensors) {
  if (!from.ref_attr_name().empty())
    return fail(errc::invalid_argument,
                "it refers to a function's attribute outside of a function");
  switch (from.type()) {
    case AttributeProto::FLOAT: return from.f();
    case AttributeProto::INT: return from.i();
    case AttributeProto::STRING: return from.s();
    case AttributeProto::FLOATS:
      return std::vector<float>{from.floats().begin(), from.floats().end()};
    case AttributeProto::INTS:
      return std::vector<std::int64_t>{from.ints().begin(), from.ints().end()};
    case AttributeProto::STRINGS:
      return std::vector<std::string>{from.strings().begin(), from.strings().end()};
    case AttributeProto::TENSOR: {
      auto read = tensors.read(from.t());
      if (!read)
        return propagate(read);
      return **read;
    }
    case AttributeProto::SPARSE_TENSOR: {
      auto read = tensors.read_sparse(from.sparse_tensor());
      if (!read)
        return propagate(read);
      return **read;
    }
    case AttributeProto::TYPE_PROTO: {
      auto read = read_type(from.tp());
      if (!read)
        return propagate(read);
      return std::vector<std::int64_t>{graph::onnx_number(read->type),
                                       read->kind == graph::value_kind::sequence ? 1 : 0};
    }
    case AttributeProto::UNDEFINED: return fail(errc::invalid_argument, "its type is not set");
    default:
      return fail(errc::unimplemented, "attributes of type {} are not supported",
                  AttributeProto::AttributeType_Name(from.type()));
  }
}

template <class T>
std::shared_ptr<const tensor> one_axis(dtype type, std::span<const T> elements, bool scalar) {
  auto made = std::make_shared<tensor>();
  made->type = type;
  if (!scalar)
    made->dims.push_back(static_cast<std::int64_t>(elements.size()));
  made->data = copy_of(std::as_bytes(elements));
  return made;
}

std::shared_ptr<const tensor> text_tensor(std::span<const std::string> elements, bool scalar) {
  std::string bytes;
  for (const auto& element : elements) {
    const auto length = static_cast<std::uint32_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += element;
  }
  auto made = std::make_shared<tensor>();
  made->type = dtype::string;
  if (!scalar)
    made->dims.push_back(static_cast<std::int64_t>(elements.size()));
  made->data = copy_of(std::as_bytes(std::span{bytes.data(), bytes.size()}));
  return made;
}

} // namespace

result<attribute_map> read_attributes(const NodeProto& of, tensor_reader& tensors) {
  attribute_map read;
  for (const auto& from : of.attribute()) {
    if (from.type() == AttributeProto::GRAPH)
      continue;
    const auto named = [&](const error& failure) {
      return fail(failure.code, "attribute '{}': {}", from.name(), failure.text);
    };
    if (read.has(from.name()))
      return named({errc::invalid_argument, "it is given twice"});
    if (auto good = check_type(from); !good && normal_domain(of.domain()).empty())
      return named(good.error());
    auto value = read_attribute(from, tensors);
    if (!value)
      return named(value.error());
    read.set(from.name(), std::move(*value));
  }
  return read;
}

result<std::shared_ptr<const tensor>> constant_value(const attribute_map& attributes) {
  if (const auto* value = attributes.find<tensor>("value"))
    return std::make_shared<const tensor>(*value);
  if (const auto* value = attributes.find<tensor>("sparse_value"))
    return std::make_shared<const tensor>(*value);
  if (const auto* one = attributes.find<float>("value_float"))
    return one_axis(dtype::float32, std::span{one, 1}, true);
  if (const auto* one = attributes.find<std::int64_t>("value_int"))
    return one_axis(dtype::int64, std::span{one, 1}, true);
  if (const auto* one = attributes.find<std::string>("value_string"))
    return text_tensor({one, 1}, true);
  if (const auto* many = attributes.find<std::vector<float>>("value_floats"))
    return one_axis(dtype::float32, std::span<const float>{*many}, false);
  if (const auto* many = attributes.find<std::vector<std::int64_t>>("value_ints"))
    return one_axis(dtype::int64, std::span<const std::int64_t>{*many}, false);
  if (const auto* many = attributes.find<std::vector<std::string>>("value_strings"))
    return text_tensor(*many, false);
  return fail(errc::invalid_argument,
              "one of value, sparse_value, value_float(s), value_int(s), value_string(s) expected, "
              "none found");
}

} // namespace troupe::onnx
