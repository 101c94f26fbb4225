#pragma once

#include "kernels/tensor/tensor.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace troupe {

/// Value of an operator's attribute. Subgraphs are not here: they belong to the graph.
using attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>, tensor>;

/// An operator's attributes by name. A getter answers the fallback both when the attribute is
/// absent and when it has another type; the importer has checked types against the operator's
/// schema.
class attribute_map {
public:
  void set(std::string name, attribute value) { values_[std::move(name)] = std::move(value); }
  void erase(std::string_view name) {
    if (auto at = values_.find(name); at != values_.end())
      values_.erase(at);
  }
  [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }

  template <class T>
  [[nodiscard]] const T* find(std::string_view name) const {
    auto at = values_.find(name);
    return at == values_.end() ? nullptr : std::get_if<T>(&at->second);
  }

  template <class T>
  [[nodiscard]] T get(std::string_view name, T fallback) const {
    const auto* found = find<T>(name);
    return found ? *found : std::move(fallback);
  }

  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const {
    return get<std::int64_t>(name, fallback);
  }
  [[nodiscard]] float real(std::string_view name, float fallback) const {
    return get<float>(name, fallback);
  }
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const {
    return get<std::vector<std::int64_t>>(name, {});
  }
  [[nodiscard]] std::string text(std::string_view name, std::string fallback = {}) const {
    return get<std::string>(name, std::move(fallback));
  }

  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }

private:
  std::map<std::string, attribute, std::less<>> values_;
};

/// Set to 1 on a node whose first input has its independent rows, which may belong to different
/// requests, in another axis than 0.
inline constexpr std::string_view rows_inside = "troupe.rows_inside";

} // namespace troupe
