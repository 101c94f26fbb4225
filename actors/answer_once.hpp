#pragma once

#include "kernels/base/result.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace troupe::actors {

/// A callback that is called once in any case: if the last copy goes without a call (the actor that
/// held it ended), it is called with `unavailable`.
template <class T>
std::function<void(result<T>)> answer_once(std::function<void(result<T>)> callback) {
  struct held {
    explicit held(std::function<void(result<T>)> to) : callback(std::move(to)) {}
    ~held() { answer(fail(errc::unavailable, "the server is shutting down")); }
    void answer(result<T> with) {
      if (auto to = std::exchange(callback, nullptr))
        to(std::move(with));
    }
    std::function<void(result<T>)> callback;
  };
  return [state = std::make_shared<held>(std::move(callback))](result<T> with) {
    state->answer(std::move(with));
  };
}

} // namespace troupe::actors
