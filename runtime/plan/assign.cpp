#include "runtime/plan/assign.hpp"

#include "runtime/plan/memory.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::plan {
namespace {

constexpr std::size_t never = ~std::size_t{0};

/// Storages that share one block of memory, and from which step to which they need it.
struct block {
  std::size_t first = never;
  std::size_t last = 0;
  std::uint32_t output = storage::none;
};

class assigner {
public:
  explicit assigner(const draft& of)
      : draft_{of}, blocks_(of.storages.size()), owner_(of.storages.size()) {
    std::iota(owner_.begin(), owner_.end(), storage_id{0});
  }

  assignment run() {
    find_lifetimes();
    for (std::size_t step = 0; step < draft_.steps.size(); ++step)
      if (overwrite_input(step))
        ++made_.in_place;
    place();
    return std::move(made_);
  }

private:
  void find_lifetimes() {
    for (storage_id id = 0; id < draft_.storages.size(); ++id)
      blocks_[id].output = draft_.storages[id].output;
    for (std::size_t step = 0; step < draft_.steps.size(); ++step) {
      for (const auto& output : draft_.steps[step].outputs)
        if (output.at != no_storage) {
          blocks_[output.at].first = std::min(blocks_[output.at].first, step);
          blocks_[output.at].last = std::max(blocks_[output.at].last, step);
        }
      for (const auto& input : draft_.steps[step].inputs)
        if (input.at != no_storage)
          blocks_[input.at].last = std::max(blocks_[input.at].last, step);
    }
  }

  /// Whether every argument of the step that reads this block may be written over.
  [[nodiscard]] bool all_readers_agree(const draft_step& step, storage_id of) const {
    for (std::size_t index = 0; index < step.inputs.size(); ++index) {
      const auto at = step.inputs[index].at;
      if (at != no_storage && owner_[at] == of && !step.choice.chosen->can_overwrite(index))
        return false;
    }
    return true;
  }

  bool overwrite_input(std::size_t index) {
    const auto& step = draft_.steps[index];
    if (step.outputs.empty() || step.outputs[0].at == no_storage)
      return false;
    const auto& output = step.outputs[0];
    for (std::size_t input = 0; input < step.inputs.size(); ++input) {
      const auto at = step.inputs[input].at;
      if (at == no_storage || !step.choice.chosen->can_overwrite(input))
        continue;
      const auto into = owner_[at];
      auto& from = blocks_[into];
      const bool dies_here = from.first != never && from.last == index
                             && from.output == storage::none
                             && draft_.storages[into].from == storage::kind::produced;
      if (!dies_here || step.inputs[input].desc.bytes() != output.desc.bytes()
          || draft_.storages[into].bytes != output.desc.bytes() || !all_readers_agree(step, into))
        continue;
      from.last = blocks_[output.at].last;
      from.output = blocks_[output.at].output;
      owner_[output.at] = into;
      return true;
    }
    return false;
  }

  void place() {
    std::vector<lifetime> lifetimes;
    std::vector<storage_id> packed; // storages first, then the workspaces of steps
    for (storage_id id = 0; id < draft_.storages.size(); ++id)
      if (owner_[id] == id && draft_.storages[id].from == storage::kind::produced
          && blocks_[id].output == storage::none && blocks_[id].first != never) {
        lifetimes.push_back({blocks_[id].first, blocks_[id].last, draft_.storages[id].bytes});
        packed.push_back(id);
      }
    for (std::size_t step = 0; step < draft_.steps.size(); ++step)
      lifetimes.push_back({step, step, draft_.steps[step].choice.chosen->workspace_bytes()});
    const auto packing = pack(lifetimes);
    made_.arena_bytes = packing.total;
    made_.live_bound_bytes = live_bound(lifetimes);

    std::vector<std::size_t> offsets(draft_.storages.size(), 0);
    for (std::size_t index = 0; index < packed.size(); ++index)
      offsets[packed[index]] = packing.offsets[index];
    for (storage_id id = 0; id < draft_.storages.size(); ++id)
      made_.storages.push_back(location_of(id, offsets));
    for (std::size_t step = 0; step < draft_.steps.size(); ++step) {
      const auto index = packed.size() + step;
      made_.workspaces.push_back(lifetimes[index].bytes == 0
                                     ? location{}
                                     : location{place::arena, 0, packing.offsets[index]});
    }
  }

  [[nodiscard]] location location_of(storage_id id, const std::vector<std::size_t>& offsets) const {
    const auto& memory = draft_.storages[id];
    switch (memory.from) {
      case storage::kind::input: return {place::input, memory.index, 0};
      case storage::kind::constant: return {place::constant, memory.index, 0};
      case storage::kind::produced: break;
    }
    const auto& of = blocks_[owner_[id]];
    if (of.output != storage::none)
      return {place::output, of.output, 0};
    return {place::arena, 0, offsets[owner_[id]]};
  }

  const draft& draft_;
  std::vector<block> blocks_;     // by storage; meaningful where a storage owns itself
  std::vector<storage_id> owner_; // by storage: whose block it lies in
  assignment made_;
};

} // namespace

assignment assign_memory(const draft& of) {
  return assigner{of}.run();
}

} // namespace troupe::plan
