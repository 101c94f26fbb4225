#include "runtime/exec/model.hpp"

#include "kernels/cpu/cpu_device.hpp"
#include "runtime/exec/buckets.hpp"
#include "runtime/exec/plan_cache.hpp"
#include "runtime/exec/row_by_row.hpp"
#include "runtime/graph/row_flow.hpp"
#include "runtime/onnx/import.hpp"
#include "runtime/passes/pass_gate.hpp"
#include "runtime/plan/build.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace troupe::exec {
namespace {

result<tensor_signature> signature_of(const graph::graph& in, graph::value_id id) {
  const auto& value = in.values[id];
  if (!value.type)
    return fail(errc::invalid_argument, "the type of '{}' is not known", value.name);
  tensor_signature made;
  made.name = value.name;
  made.type = *value.type;
  made.sequence = value.kind == graph::value_kind::sequence
                  || value.kind == graph::value_kind::optional_sequence;
  made.optional = value.kind == graph::value_kind::optional_tensor
                  || value.kind == graph::value_kind::optional_sequence;
  made.any_rank = !value.dims;
  if (made.any_rank)
    return made;
  for (const auto& axis : *value.dims) {
    made.dims.push_back(axis.known() ? axis.size() : -1);
    const bool named = !axis.known() && axis.symbol() < in.symbols.size();
    made.dim_names.push_back(named ? in.symbols[axis.symbol()] : std::string{});
  }
  return made;
}

result<signature> signature_of(const graph::graph& of) {
  signature made;
  for (auto id : of.inputs) {
    auto input = signature_of(of, id);
    if (!input)
      return propagate(input);
    made.inputs.push_back(*std::move(input));
  }
  for (auto id : of.outputs) {
    auto output = signature_of(of, id);
    if (!output)
      return propagate(output);
    made.outputs.push_back(*std::move(output));
  }
  return made;
}

} // namespace

struct model::impl {
  graph::graph optimised;
  std::vector<passes::pass_report> rewrites;
  signature io;
  std::string why_rows_depend; // empty: they do not
  std::shared_ptr<device> on;
  std::shared_ptr<device> host; ///< computes constants: a simulated or remote device takes its time
  std::shared_ptr<weight_cache> weights = std::make_shared<weight_cache>();
  std::shared_ptr<const dynamic::program> program; ///< null: plans run the model
  batch_buckets buckets;
  std::shared_ptr<plan::tuning> tuning;
  bool batch_invariant;
  bool whole_batches;
  std::size_t constant_bytes = 0;
  mutable plan_cache plans;
  plan_cache plans_of_part; ///< for one row and one thread

  impl(std::shared_ptr<device> device, const model_options& options)
      : on{std::move(device)}, buckets{options.batch_buckets}, tuning{options.tuning},
        batch_invariant{options.batch_invariant},
        whole_batches{options.whole_batches}, plans{options.max_cached_plans, options.plan_memory},
        plans_of_part{options.max_cached_plans, options.plan_memory} {}

  result<plan_cache::plan_ptr> build(std::span<const shape> dims, device& runs_on,
                                     plan::tuning* tuned) {
    return plan::build(optimised, dims, runs_on, *weights, {.host = host.get(), .tuned = tuned});
  }

  // The dims of one row, where `dims` are those of several that are independent.
  [[nodiscard]] std::optional<std::vector<shape>> row_of(std::span<const shape> dims) const {
    const auto rows = dims.empty() || dims[0].empty() ? 0 : dims[0][0];
    const auto in_rows = [&](const shape& of) { return !of.empty() && of[0] == rows; };
    if (!why_rows_depend.empty() || rows < 2 || !std::ranges::all_of(dims, in_rows))
      return std::nullopt;
    std::vector<shape> row{dims.begin(), dims.end()};
    for (auto& each : row)
      each[0] = 1;
    return row;
  }

  // One thread and, where rows are independent, one row: nothing that a kernel could split or block
  // in another way.
  result<plan_cache::plan_ptr> build_invariant(std::span<const shape> dims) {
    const auto row = row_of(dims);
    const std::vector<shape> part = row ? *row : std::vector<shape>{dims.begin(), dims.end()};
    auto made = plans_of_part.find_or_make(part, [&] { return build(part, *host, nullptr); });
    if (!made)
      return propagate(made);
    return row_by_row(*std::move(made), row ? dims[0][0] : 1, on->properties().threads);
  }

  // Where one row's activations already fill the cache nearby and the weights stay in the next, a
  // batch gains nothing from being computed together and loses what is still cached from node to
  // node. Null where it does gain, or where a share of the threads would stand idle.
  plan_cache::plan_ptr build_apart(std::span<const shape> dims) {
    constexpr std::size_t nearby = std::size_t{1} << 20;
    constexpr std::size_t next = std::size_t{24} << 20;
    const auto row = row_of(dims);
    if (!row || whole_batches || constant_bytes > next || on->properties().kind != "cpu")
      return nullptr;
    const std::int64_t threads = on->properties().threads;
    const auto rows = dims[0][0];
    const auto turns = (rows + threads - 1) / threads;
    if (8 * turns * threads > 9 * rows)
      return nullptr;
    auto made = plans_of_part.find_or_make(*row, [&] { return build(*row, *host, tuning.get()); });
    if (!made || (*made)->arena_bytes < nearby)
      return nullptr;
    return row_by_row(*std::move(made), rows, static_cast<int>(threads));
  }

  result<plan_cache::plan_ptr> build_batch(std::span<const shape> dims) {
    if (auto apart = build_apart(dims))
      return apart;
    return build(dims, *on, tuning.get());
  }

  static result<std::shared_ptr<model>> finished(std::unique_ptr<impl> made,
                                                 const model_options& options);
};

// What depends on the device, or takes the graph as it stays.
result<std::shared_ptr<model>> model::impl::finished(std::unique_ptr<impl> made,
                                                     const model_options& options) {
  if (dynamic::needs_program(made->optimised)) {
    if (options.batch_invariant)
      return fail(
          errc::unimplemented,
          "batch-invariant outputs take a model whose shapes do not depend on data, without "
          "control flow, sequences and strings");
    auto program = dynamic::program::make(made->optimised,
                                          {made->on.get(), made->host.get(), made->weights.get(),
                                           made->tuning.get(), options.max_cached_plans});
    if (!program)
      return propagate(program);
    made->program = *std::move(program);
    made->why_rows_depend = "a program runs the model, one request after the other";
  }
  for (const auto& value : made->optimised.values)
    if (value.constant)
      made->constant_bytes += value.constant->data.size();
  const auto rows = graph::rows_independent(made->optimised);
  if (!rows.independent)
    made->why_rows_depend = rows.reason.empty() ? "no reason is known" : rows.reason;
  for (const auto id : rows.inside)
    made->optimised.nodes[id].attributes.set(std::string{rows_inside}, std::int64_t{1});
  return std::shared_ptr<model>{new model{std::move(made)}};
}

model::model(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
model::~model() = default;

result<std::shared_ptr<model>> model::load(const std::filesystem::path& file,
                                           std::shared_ptr<device> on,
                                           const model_options& options) {
  if (options.batch_invariant && on->properties().kind != "cpu")
    return fail(errc::unimplemented, "batch-invariant outputs take a cpu device, not {}",
                on->properties().name);
  auto imported = onnx::import_file(file, options.repository);
  if (!imported)
    return propagate(imported);
  auto made = std::make_unique<impl>(std::move(on), options);
  made->optimised = *std::move(imported);
  auto host = cpu::make_cpu_device({.threads = 1});
  if (!host)
    return propagate(host);
  made->host = *std::move(host);
  passes::pass_options rewriting{.disabled = options.disabled_passes, .on = made->host.get()};
  if (!options.optimise) {
    rewriting.disabled.clear();
    for (auto name : passes::pass_names())
      rewriting.disabled.emplace_back(name);
  }
  auto report = passes::run_passes(made->optimised, rewriting);
  if (!report)
    return propagate(report);
  made->rewrites = *std::move(report);
  auto io = signature_of(made->optimised);
  if (!io)
    return propagate(io);
  made->io = *std::move(io);
  return impl::finished(std::move(made), options);
}

result<std::shared_ptr<model>> model::beside(const model& of, std::shared_ptr<device> on,
                                             const model_options& options) {
  if (options.batch_invariant && on->properties().kind != "cpu")
    return fail(errc::unimplemented, "batch-invariant outputs take a cpu device, not {}",
                on->properties().name);
  auto made = std::make_unique<impl>(std::move(on), options);
  made->optimised = of.impl_->optimised; // the constants in it are the same
  made->rewrites = of.impl_->rewrites;
  made->io = of.impl_->io;
  made->host = of.impl_->host;
  made->weights = of.impl_->weights;
  return impl::finished(std::move(made), options);
}

const signature& model::io() const noexcept {
  return impl_->io;
}

bool model::rows_independent() const noexcept {
  return impl_->why_rows_depend.empty();
}

const std::string& model::why_rows_depend() const noexcept {
  return impl_->why_rows_depend;
}

const graph::graph& model::optimised() const noexcept {
  return impl_->optimised;
}

std::span<const passes::pass_report> model::rewrites() const noexcept {
  return impl_->rewrites;
}

device& model::on() const noexcept {
  return *impl_->on;
}

std::size_t model::weight_bytes() const noexcept {
  return impl_->weights->bytes();
}

const dynamic::program* model::program() const noexcept {
  return impl_->program.get();
}

std::shared_ptr<const plan::plan> model::find_plan(std::span<const shape> dims) const {
  return impl_->plans.find(dims);
}

result<std::shared_ptr<const plan::plan>> model::make_plan(std::span<const shape> dims) {
  if (impl_->program)
    return fail(errc::failed_precondition, "the model has no plan as a whole: a program runs it");
  return impl_->plans.find_or_make(dims, [&] {
    return impl_->batch_invariant ? impl_->build_invariant(dims) : impl_->build_batch(dims);
  });
}

bool model::caches(const plan::plan& wanted) const {
  return impl_->plans.holds(wanted);
}

std::int64_t model::bucket_for(std::int64_t rows) const noexcept {
  return impl_->buckets.holding(rows);
}

} // namespace troupe::exec
