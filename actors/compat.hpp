#pragma once

// How an actor's interface is spelled, the same for CAF 0.17 and later.

#include <caf/config.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

namespace troupe::actors {

namespace detail {

template <class Signature>
struct rpc_impl;

template <class Result, class... Args>
struct rpc_impl<Result(Args...)> {
#if CAF_VERSION < 1800
  using type = typename caf::replies_to<Args...>::template with<Result>;
#else
  using type = caf::result<Result>(Args...);
#endif
};

} // namespace detail

/// One line of an actor's interface.
template <class Signature>
using rpc = typename detail::rpc_impl<Signature>::type;

} // namespace troupe::actors
