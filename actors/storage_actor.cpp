#include "actors/storage_actor.hpp"

#include "actors/hand_on.hpp"

#include <new>

namespace troupe::actors {

namespace {

template <class Work>
auto caught(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, "the machine has no memory for this");
  } catch (const std::exception& thrown) {
    return fail(errc::internal, "{}", thrown.what());
  }
}

} // namespace

storage_actor::behavior_type storage_state::make_behavior(commons_ptr shared) {
  shared_ = std::move(shared);
  log_exceptions(self_, name);
  return {
      [this](load_atom, const load_order_ptr& order) { load(*order); },
      [this](plan_atom, const plan_order_ptr& order) { plan(*order); },
  };
}

void storage_state::load(const load_order& order) {
  order.done(caught([&] { return order.load(); }));
}

void storage_state::plan(const plan_order& order) {
  const auto began = shared_->clock->now();
  auto made = caught([&] { return order.of->prepare(order.dims); });
  if (made)
    order.done(made_plan{std::move(*made), shared_->clock->now() - began});
  else
    order.done(propagate(std::move(made)));
}

storage_actor::behavior_type storage(storage_actor::stateful_pointer<storage_state> self,
                                     commons_ptr shared) {
  return self->state.make_behavior(std::move(shared));
}

} // namespace troupe::actors
