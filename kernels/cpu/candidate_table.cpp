// Joins the families of tables/, which say which kernels exist and in what order they are tried.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/tables/table.hpp"

#include <map>
#include <utility>

namespace troupe::cpu {

namespace {

const operator_entry* entry_of(std::string_view domain, std::string_view op_type) {
  using key = std::pair<std::string_view, std::string_view>;
  static const auto joined = [] {
    std::map<key, const operator_entry*> all;
    for (const auto family : {
             elementwise_operators(),
             compute_operators(),
             movement_operators(),
             network_operators(),
             quantization_operators(),
             machine_learning_operators(),
             indexing_operators(),
             vision_operators(),
             random_operators(),
         })
      for (const auto& entry : family)
        all.emplace(key{entry.domain, entry.op_type}, &entry);
    return all;
  }();
  const auto known = joined.find({domain, op_type});
  return known == joined.end() ? nullptr : known->second;
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

} // namespace troupe::cpu
