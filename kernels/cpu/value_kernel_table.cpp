// Joins the families of tables/ that hold value kernels.

#include "kernels/cpu/tables/value_table.hpp"

#include <map>
#include <utility>

namespace troupe::cpu {

const value_entry* value_kernel_for(std::string_view domain, std::string_view op_type) {
  using key = std::pair<std::string_view, std::string_view>;
  static const auto joined = [] {
    std::map<key, const value_entry*> all;
    for (const auto family : {
             label_value_kernels(),
             selection_value_kernels(),
             sequence_value_kernels(),
             text_value_kernels(),
         })
      for (const auto& entry : family)
        all.emplace(key{entry.domain, entry.op_type}, &entry);
    return all;
  }();
  const auto known = joined.find({domain, op_type});
  return known == joined.end() ? nullptr : known->second;
}

} // namespace troupe::cpu
