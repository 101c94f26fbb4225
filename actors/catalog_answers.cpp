// What the catalog is asked: models, versions, states, numbers.

#include "actors/catalog_actor.hpp"

#include "actors/describe.hpp"
#include "runtime/placement/version_rules.hpp"

namespace troupe::actors {

result<model_ptr> catalog_state::find(const model_name& about) const {
  const auto at = books_->models.find(about.name);
  if (at == books_->models.end() || at->second.versions.empty())
    return fail(errc::not_found, "model {}: not found", about.name);
  std::vector<std::string> versions;
  for (const auto& one : at->second.versions)
    versions.push_back(one->version);
  const auto chosen = placement::choose_version(versions, at->second.rules, about.version);
  if (!chosen)
    return fail(errc::not_found, "model {}: no version {}", about.name, about.version);
  return at->second.versions[*chosen];
}

std::vector<protocol::model_index_entry> catalog_state::index() const {
  std::vector<protocol::model_index_entry> entries;
  auto listed = source_.list ? source_.list() : std::vector<std::string>{};
  for (const auto& [key, one] : books_->models) {
    std::erase(listed, key);
    for (const auto& version : one.versions) {
      const auto missing = missing_for(*version);
      const auto why = !version->fit()   ? std::string{"none of its devices is fit for work"}
                       : missing.empty() ? std::string{}
                                         : "model " + missing + ": not loaded";
      entries.push_back({key, version->version, why.empty() ? "READY" : "UNAVAILABLE",
                         why.empty() ? one.reason : why});
    }
    if (one.versions.empty())
      entries.push_back({key, "", one.state, one.reason});
  }
  for (auto& rest : listed)
    entries.push_back({std::move(rest), "", "UNAVAILABLE", "not loaded"});
  return entries;
}

void catalog_state::answer(const query& asked) const {
  switch (asked.of) {
    case query::what::metadata: {
      const auto found = find(asked.about);
      if (!found)
        return asked.metadata(propagate(found));
      return asked.metadata(metadata_of(**found, books_->models.at(asked.about.name).versions));
    }
    case query::what::ready: {
      const auto found = find(asked.about);
      if (found)
        return asked.ready(missing_for(**found).empty() && (*found)->fit());
      const auto at = books_->models.find(asked.about.name);
      if (at != books_->models.end() && at->second.state == "LOADING")
        return asked.ready(false);
      return asked.ready(propagate(found));
    }
    case query::what::index: return asked.index(index());
    case query::what::statistics: {
      std::vector<protocol::model_statistics> all;
      for (const auto& [key, one] : books_->models)
        if (asked.about.name.empty() || key == asked.about.name)
          for (const auto& version : one.versions)
            all.push_back(statistics_of(*version));
      if (all.empty() && !asked.about.name.empty())
        return asked.statistics(fail(errc::not_found, "model {}: not found", asked.about.name));
      return asked.statistics(std::move(all));
    }
  }
}

} // namespace troupe::actors
