// Walks the protobuf wire format (https://protobuf.dev/programming-guides/encoding) just deep
// enough to find TensorProto messages. Everything else is copied as it is and left to the generated
// parser.

#include "runtime/onnx/skeleton.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace troupe::onnx {

namespace {

constexpr int max_depth = 64; // subgraphs in attributes of nodes of subgraphs …

enum class kind : std::uint8_t {
  other,
  model,
  graph,
  node,
  attribute,
  tensor,
  sparse,
  function,
  sequence,
  optional
};

struct nesting {
  kind in;
  std::uint32_t field;
  kind holds;
};

// Where a message that may hold a tensor stands.
constexpr std::array<nesting, 18> nestings{{
    {kind::model, 7, kind::graph},
    {kind::model, 25, kind::function},
    {kind::graph, 1, kind::node},
    {kind::graph, 5, kind::tensor},
    {kind::graph, 15, kind::sparse},
    {kind::function, 7, kind::node},
    {kind::function, 11, kind::attribute},
    {kind::node, 5, kind::attribute},
    {kind::attribute, 5, kind::tensor},
    {kind::attribute, 6, kind::graph},
    {kind::attribute, 10, kind::tensor},
    {kind::attribute, 11, kind::graph},
    {kind::attribute, 22, kind::sparse},
    {kind::sparse, 1, kind::tensor},
    {kind::sparse, 2, kind::tensor},
    {kind::sequence, 3, kind::tensor},
    {kind::optional, 3, kind::tensor},
    {kind::optional, 5, kind::sequence},
}};

constexpr std::uint32_t raw_data = 9;
constexpr std::uint32_t payload_offset = 1001;
constexpr std::uint32_t payload_size = 1002;

kind held(kind in, std::uint32_t field) {
  for (const auto& known : nestings)
    if (known.in == in && known.field == field)
      return known.holds;
  return kind::other;
}

void put_varint(std::uint64_t value, std::string& to) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void put_number(std::uint32_t field, std::uint64_t value, std::string& to) {
  put_varint(std::uint64_t{field} << 3, to);
  put_varint(value, to);
}

class scanner {
public:
  explicit scanner(byte_source& from) : reader_{from} {}

  result<void> message(kind what, std::uint64_t end, int depth, std::string& to) {
    if (depth > max_depth)
      return fail(errc::invalid_argument, "messages are nested deeper than {}", max_depth);
    while (reader_.position() < end)
      if (auto done = field(what, end, depth, to); !done)
        return done;
    if (reader_.position() > end)
      return overrun(end);
    return {};
  }

private:
  static tl::unexpected<error> overrun(std::uint64_t end) {
    return fail(errc::invalid_argument, "a field goes beyond the end of its message at byte {}",
                end);
  }

  result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      auto octet = reader_.next();
      if (!octet)
        return propagate(octet);
      value |= (std::to_integer<std::uint64_t>(*octet) & 0x7f) << shift;
      if (std::to_integer<int>(*octet) < 0x80)
        return value;
    }
    return fail(errc::invalid_argument, "a number of more than 10 bytes at byte {}",
                reader_.position());
  }

  result<void> field(kind what, std::uint64_t end, int depth, std::string& to) {
    auto tag = varint();
    if (!tag)
      return propagate(tag);
    const auto number = static_cast<std::uint32_t>(*tag >> 3);
    if (number == 0 || *tag > std::numeric_limits<std::uint32_t>::max())
      return fail(errc::invalid_argument, "no protobuf field at byte {}", reader_.position());
    const bool ours = what == kind::tensor && (number == payload_offset || number == payload_size);
    std::string ignored;
    auto& out = ours ? ignored : to;
    switch (*tag & 7) {
      case 0: {
        auto value = varint();
        if (!value)
          return propagate(value);
        put_varint(*tag, out);
        put_varint(*value, out);
        return {};
      }
      case 1: return fixed(*tag, 8, out);
      case 5: return fixed(*tag, 4, out);
      case 2: return delimited(what, *tag, end, depth, out);
      default:
        return fail(errc::invalid_argument, "wire type {} at byte {} is not protobuf", *tag & 7,
                    reader_.position());
    }
  }

  result<void> fixed(std::uint64_t tag, std::uint64_t bytes, std::string& to) {
    put_varint(tag, to);
    return reader_.append(bytes, to);
  }

  result<void> delimited(kind what, std::uint64_t tag, std::uint64_t end, int depth,
                         std::string& to) {
    auto size = varint();
    if (!size)
      return propagate(size);
    if (reader_.position() > end || *size > end - reader_.position())
      return overrun(end);
    const auto number = static_cast<std::uint32_t>(tag >> 3);
    if (what == kind::tensor && number == raw_data) {
      put_number(payload_offset, reader_.position(), to);
      put_number(payload_size, *size, to);
      reader_.seek(reader_.position() + *size);
      return {};
    }
    put_varint(tag, to);
    const auto inner = held(what, number);
    if (inner == kind::other) {
      put_varint(*size, to);
      return reader_.append(*size, to);
    }
    std::string body;
    if (auto done = message(inner, reader_.position() + *size, depth + 1, body); !done)
      return done;
    put_varint(body.size(), to);
    to += body;
    return {};
  }

  byte_reader reader_;
};

result<std::string> scan(byte_source& from, kind root) {
  std::string skeleton;
  scanner over{from};
  if (auto done = over.message(root, from.size(), 0, skeleton); !done)
    return propagate(done);
  if (skeleton.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return fail(errc::invalid_argument,
                "the model without its raw data has {} bytes: protobuf reads 2 GiB at most",
                skeleton.size());
  return skeleton;
}

} // namespace

result<std::string> read_skeleton(byte_source& from) {
  return scan(from, kind::model);
}

result<std::string> read_tensor_skeleton(byte_source& from) {
  return scan(from, kind::tensor);
}

result<std::string> read_sequence_skeleton(byte_source& from) {
  return scan(from, kind::sequence);
}

result<std::string> read_optional_skeleton(byte_source& from) {
  return scan(from, kind::optional);
}

} // namespace troupe::onnx
