// Which plan a batch runs, and batches that wait for theirs to be made.

#include "actors/device_actor.hpp"

#include "actors/answer_once.hpp"
#include "actors/hand_on.hpp"
#include "runtime/batching/buckets.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

std::vector<shape> dims_for(const batch& of, std::int64_t bucket) {
  const auto& first = *of.jobs.front();
  auto dims = first.run_dims;
  if (dims.empty())
    for (const auto& input : first.request.inputs)
      dims.push_back(input.value.dims);
  if (bucket > 0)
    for (auto& one : dims)
      one[0] = bucket;
  return dims;
}

// The sizes for which programs of this model are ready, ascending.
std::vector<std::int64_t> planned_buckets(const batch& of, std::int64_t wanted) {
  std::vector<std::int64_t> found;
  for (std::int64_t size = 1; size <= of.model->io.max_batch_size; size *= 2)
    if (size != wanted && of.where->runs->find(dims_for(of, size)))
      found.push_back(size);
  return found;
}

} // namespace

void device_state::start(const batch_ptr& next) {
  if (std::all_of(next->jobs.begin(), next->jobs.end(), [](auto& one) { return one->over(); })) {
    for (const auto& one : next->jobs)
      one->fail_with(errc::cancelled, "the request was cancelled");
    // A state that did not advance is not to be taken for one that did.
    return finish(*next, next->model->settings.sequences
                             ? std::optional{error{errc::cancelled, "the request was cancelled"}}
                             : std::nullopt);
  }
  const auto& runs = *next->where->runs;
  if (next->model->io.max_batch_size <= 0) {
    auto dims = dims_for(*next, 0);
    auto program = runs.find(dims);
    return program ? run_planned(next, std::move(program), 0)
                   : park(next, std::move(dims), next->where->runs);
  }
  const auto wanted = std::max(runs.bucket_for(next->rows), std::int64_t{1});
  auto dims = dims_for(*next, wanted);
  if (auto program = runs.find(dims))
    return run_planned(next, std::move(program), wanted);
  const auto choice = batching::choose_bucket(next->rows, wanted, planned_buckets(*next, wanted),
                                              next->where->load->profile(), planning_time_);
  if (choice.how == batching::bucket_choice::way::wait)
    return park(next, std::move(dims), next->where->runs);
  // The nearest size serves while the wanted one is made for those who come later.
  park(nullptr, std::move(dims), next->where->runs);
  if (auto program = runs.find(dims_for(*next, choice.bucket)))
    return run_planned(next, std::move(program), choice.bucket);
  park(next, dims_for(*next, wanted), next->where->runs);
}

// The order of a plan goes out once, however many batches wait for it.
void device_state::park(batch_ptr next, std::vector<shape> dims,
                        const std::shared_ptr<placement::executable>& of) {
  for (auto& [number, order] : planning_) {
    if (order.of == of && order.dims == dims) {
      if (next)
        order.batches.push_back(std::move(next));
      return;
    }
  }
  const auto number = shared_->fresh_number();
  auto order = std::make_shared<plan_order>();
  order->of = of;
  order->dims = dims;
  // The order may be lost with its storage, which is as good as a plan that could not be made.
  order->done = answer_once<made_plan>(
      [shared = shared_, to = setup_.id, number](const result<made_plan>& made) {
        tell<device_actor>(*shared, to, planned_atom_v, number, made ? made->took.count() : 0,
                           made ? made->program : program_ptr{},
                           failure{made ? std::nullopt : std::optional{made.error()}});
      },
      "whoever made the plan ended");
  auto& entry = planning_[number];
  entry = {of, std::move(dims), {}};
  if (next)
    entry.batches.push_back(std::move(next));
  const auto& storages = shared_->storages;
  if (!tell<storage_actor>(*shared_, storages[number % storages.size()], plan_atom_v,
                           plan_order_ptr{order}))
    planned(number, 0, {}, {error{errc::unavailable, "nobody makes plans at the moment", 100}});
}

void device_state::planned(std::uint64_t number, std::int64_t took, const program_ptr& program,
                           const failure& outcome) {
  const auto entry = planning_.extract(number);
  if (entry.empty())
    return;
  // A new plan may have driven old ones out of their cache.
  std::erase_if(runs_, [](const auto& one) { return !one.second.of->caches(*one.first); });
  if (!outcome.what)
    planning_time_ += (duration{took} - planning_time_) / 4;
  for (const auto& next : entry.mapped().batches) {
    if (outcome.what)
      finish(*next, outcome.what);
    else
      attempt(next, [&] {
        run_planned(next, program,
                    next->model->io.max_batch_size > 0 ? entry.mapped().dims[0][0] : 0);
      });
  }
}

} // namespace troupe::actors
