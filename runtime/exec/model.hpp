#pragma once

#include "kernels/device/device.hpp"
#include "runtime/dynamic/program.hpp"
#include "runtime/exec/plan_budget.hpp"
#include "runtime/exec/signature.hpp"
#include "runtime/passes/pass_gate.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/plan/tuning.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe::exec {

struct model_options {
  bool optimise = true; ///< run the passes
  std::vector<std::string> disabled_passes{};
  std::size_t max_cached_plans = 64; ///< bound of the plan cache; least recently used leave
  std::shared_ptr<plan_budget>
      plan_memory{};                         ///< shared with other models; null: bytes do not count
  std::vector<std::int64_t> batch_buckets{}; ///< sizes beside 1, 2, 4, … worth a plan
  std::shared_ptr<plan::tuning> tuning{};    ///< chooses kernels by measuring them; null: does not
  /// A row's outputs are the same bits whatever the batch, its padding and the number of threads:
  /// rows are computed one by one, each on one thread, with kernels in the order of the table.
  /// Models whose rows depend on each other run as they come, on one thread. On CPU devices only;
  /// unimplemented for models that a program runs.
  bool batch_invariant = false;
  /// Never compute the rows of a batch one by one, each on one thread, where that is faster.
  bool whole_batches = false;
  std::filesystem::path repository{}; ///< links to external data may lead into it
};

/// A loaded model on one device: the optimised graph, its packed weights (which devices of one
/// memory share) and a bounded cache of plans. All members may be called from any thread;
/// `make_plan` takes milliseconds and holds no lock that `find_plan` needs.
class model {
public:
  /// Imports, optimises and checks; errors name node, operator, what was expected and what came.
  [[nodiscard]] static result<std::shared_ptr<model>> load(const std::filesystem::path& file,
                                                           std::shared_ptr<device> on,
                                                           const model_options& options = {});
  /// The same model on a further device that shares the memory of the first one's: constants and
  /// packed weights are those of `of`, plans are its own.
  [[nodiscard]] static result<std::shared_ptr<model>>
  beside(const model& of, std::shared_ptr<device> on, const model_options& options = {});
  ~model();
  model(const model&) = delete;
  model& operator=(const model&) = delete;

  /// Names, types and dims as the file declares them; max_batch_size is 0 until configured.
  [[nodiscard]] const signature& io() const noexcept;
  /// Whether the importer proved that row i of every output depends on row i of the inputs alone;
  /// if not, the reason names the node where the proof broke.
  [[nodiscard]] bool rows_independent() const noexcept;
  [[nodiscard]] const std::string& why_rows_depend() const noexcept;
  [[nodiscard]] const graph::graph& optimised() const noexcept;
  /// What each pass changed while the model was loaded.
  [[nodiscard]] std::span<const passes::pass_report> rewrites() const noexcept;
  [[nodiscard]] device& on() const noexcept;
  [[nodiscard]] std::size_t weight_bytes() const noexcept;

  /// What runs the model where no plan can be made of it as a whole (control flow, sequences,
  /// strings, shapes that depend on data); null for all others.
  [[nodiscard]] const dynamic::program* program() const noexcept;

  /// The plan for exactly these input dims (in signature order), or null. Never slow.
  [[nodiscard]] std::shared_ptr<const plan::plan> find_plan(std::span<const shape> dims) const;
  /// The same, made and cached on a miss. Two callers with one shape make it once.
  /// failed_precondition for a model that a program runs.
  [[nodiscard]] result<std::shared_ptr<const plan::plan>> make_plan(std::span<const shape> dims);
  /// Whether `find_plan` would still give this very plan.
  [[nodiscard]] bool caches(const plan::plan& wanted) const;
  /// The smallest batch bucket that holds `rows`.
  [[nodiscard]] std::int64_t bucket_for(std::int64_t rows) const noexcept;

private:
  struct impl;
  explicit model(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

} // namespace troupe::exec
