// Joins the families of tables/, which say which kernels exist and in what order they are tried.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/tables/table.hpp"

#include <map>
#include <utility>
#include <vector>

namespace troupe::cpu {

namespace {

using operator_map = std::map<std::pair<std::string_view, std::string_view>, const operator_entry*>;

const operator_map& whole_table() {
  static const auto joined = [] {
    operator_map all;
    for (const auto family : {
             elementwise_operators(),
             compute_operators(),
             movement_operators(),
             network_operators(),
             quantization_operators(),
             machine_learning_operators(),
             contrib_operators(),
             indexing_operators(),
             vision_operators(),
             random_operators(),
         })
      for (const auto& entry : family)
        all.emplace(std::pair{entry.domain, entry.op_type}, &entry);
    return all;
  }();
  return joined;
}

const operator_entry* entry_of(std::string_view domain, std::string_view op_type) {
  const auto known = whole_table().find({domain, op_type});
  return known == whole_table().end() ? nullptr : known->second;
}

} // namespace

std::span<const candidate> candidates_for(std::string_view domain, std::string_view op_type) {
  const auto* known = entry_of(domain, op_type);
  return known == nullptr ? std::span<const candidate>{} : known->candidates;
}

std::size_t least_inputs_of(std::string_view domain, std::string_view op_type) {
  const auto* known = entry_of(domain, op_type);
  return known == nullptr ? 0 : known->least_inputs;
}

std::vector<operator_name> planned_operators() {
  std::vector<operator_name> names;
  for (const auto& [name, entry] : whole_table())
    names.push_back({name.first, name.second});
  return names;
}

} // namespace troupe::cpu
