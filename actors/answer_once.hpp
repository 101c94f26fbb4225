#pragma once

#include "kernels/base/result.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace troupe::actors {

/// A callback that is called once in any case: if the last copy goes without a call (the actor that
/// held it ended), it is called with `unavailable` and this text.
template <class T>
std::function<void(result<T>)> answer_once(std::function<void(result<T>)> callback,
                                           const char* otherwise = "the server is shutting down") {
  struct held {
    held(std::function<void(result<T>)> to, const char* text)
        : callback(std::move(to)), otherwise(text) {}
    ~held() { answer(fail(errc::unavailable, "{}", otherwise)); }
    void answer(result<T> with) {
      if (auto to = std::exchange(callback, nullptr))
        to(std::move(with));
    }
    std::function<void(result<T>)> callback;
    const char* otherwise;
  };
  return [state = std::make_shared<held>(std::move(callback), otherwise)](result<T> with) {
    state->answer(std::move(with));
  };
}

} // namespace troupe::actors
