#pragma once

// A request that a coroutine waits for, in whatever library the coroutine lives. Asio's own
// coroutines take asio.hpp instead. Included from beside troupe.hpp, in the tree and where it is
// installed.

#include "troupe.hpp"

#include <atomic>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace troupe {

/// Where a coroutine goes on: called on a thread of the runtime's with what is to be run, which it
/// passes on to where that belongs.
using resume_through = std::function<void(std::function<void()>)>;

/// What `co_await infer_awaited(…)` waits for. To be awaited once, at once. A coroutine that is
/// destroyed while it waits cancels the request; the thread that destroys it must be the one on
/// which it would go on.
class [[nodiscard]] awaited_inference {
public:
  awaited_inference(runtime& in, inference_request request, resume_through through)
      : in_(in), request_(std::move(request)), shared_(std::make_shared<shared>()) {
    shared_->through = std::move(through);
  }
  awaited_inference(const awaited_inference&) = delete;
  awaited_inference& operator=(const awaited_inference&) = delete;
  ~awaited_inference() {
    if (shared_->now.exchange(phase::abandoned) == phase::waiting && call_)
      call_->cancel();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }

  /// False if the answer came at once, as a refusal does.
  bool await_suspend(std::coroutine_handle<> waiting) {
    shared_->waiting = waiting;
    call_ = in_.infer(std::move(request_), [held = shared_](response_part part) {
      held->answer = std::move(part);
      if (held->now.exchange(phase::answered) != phase::waiting)
        return;
      auto go_on = [held] {
        if (held->now == phase::answered)
          held->waiting.resume();
      };
      held->through ? held->through(std::move(go_on)) : go_on();
    });
    auto expected = phase::sent; // from the exchange on, this object may be gone
    return shared_->now.compare_exchange_strong(expected, phase::waiting);
  }

  response_part await_resume() { return std::move(*shared_->answer); }

private:
  enum class phase { sent, waiting, answered, abandoned };
  struct shared {
    std::atomic<phase> now{phase::sent};
    std::optional<response_part> answer;
    std::coroutine_handle<> waiting;
    resume_through through;
  };

  runtime& in_;
  inference_request request_;
  std::shared_ptr<shared> shared_;
  std::shared_ptr<protocol::call> call_;
};

/// `co_await infer_awaited(runtime, request)` gives the answer. Without `through` the coroutine
/// goes on on a thread of the runtime's and must not block it.
[[nodiscard]] inline awaited_inference infer_awaited(runtime& in, inference_request request,
                                                     resume_through through = {}) {
  return {in, std::move(request), std::move(through)};
}

} // namespace troupe
