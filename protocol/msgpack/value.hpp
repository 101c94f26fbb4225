#pragma once

// Reading maps of msgpack-cxx with errors that name the key. Private to the decoder.

#include "kernels/base/result.hpp"
#include "protocol/msgpack/decode.hpp"

#include <msgpack.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::protocol::rpc {

/// A decoded value; strings are views into the bytes it was read from.
class value {
public:
  /// The one value that the bytes hold.
  [[nodiscard]] static result<value> parse(value_bytes bytes);

  /// A map's entry; the last one where a key comes twice; nullptr if there is none.
  [[nodiscard]] static const ::msgpack::object* find(const ::msgpack::object& map,
                                                     std::string_view key) noexcept;

  [[nodiscard]] const ::msgpack::object& root() const noexcept { return *handle_; }

private:
  ::msgpack::object_handle handle_;
};

/// An entry of a map; invalid_argument names `where` and the key if it is missing or of another
/// type.
[[nodiscard]] result<std::string> text_at(const ::msgpack::object& map, std::string_view where,
                                          std::string_view key);
[[nodiscard]] result<std::uint64_t> count_at(const ::msgpack::object& map, std::string_view where,
                                             std::string_view key);
[[nodiscard]] result<bool> flag_at(const ::msgpack::object& map, std::string_view where,
                                   std::string_view key);
[[nodiscard]] result<std::vector<std::int64_t>>
dims_at(const ::msgpack::object& map, std::string_view where, std::string_view key);
/// Every entry must be an array; `each` is called for its elements and stops at the first error.
template <class F>
[[nodiscard]] result<void> for_each_at(const ::msgpack::object& map, std::string_view where,
                                       std::string_view key, F&& each) {
  const auto* found = value::find(map, key);
  if (!found || found->type != ::msgpack::type::ARRAY)
    return fail(errc::invalid_argument, "{}: \"{}\" must be an array", where, key);
  for (const auto& element : found->via.array)
    if (auto done = each(element); !done)
      return done;
  return {};
}

/// The same, with the empty string if the key is missing or nil.
[[nodiscard]] result<std::string> optional_text_at(const ::msgpack::object& map,
                                                   std::string_view where, std::string_view key);
/// The map of KServe parameters under "parameters", empty if missing.
[[nodiscard]] result<parameter_map> parameters_at(const ::msgpack::object& map,
                                                  std::string_view where);

} // namespace troupe::protocol::rpc
