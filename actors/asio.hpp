#pragma once

// Requests beside the user's own Asio loop: an asynchronous operation with any completion token.
// Header only; Boost.Asio is needed by whoever includes this, not by troupe.hpp. Included from
// beside troupe.hpp, in the tree and where it is installed.

#include "troupe.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace troupe {

/// Sends a request; the completion has the signature void(response_part) and comes through the
/// executor of the handler, whose work is outstanding until then:
///
///   response_part answer = co_await async_infer(runtime, request, boost::asio::use_awaitable);
///   async_infer(runtime, request, boost::asio::bind_executor(io, [](response_part answer) {…}));
template <class CompletionToken>
auto async_infer(runtime& in, inference_request request, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(response_part)>(
      [](auto handler, runtime* with, inference_request asked) {
        using handler_type = decltype(handler);
        auto work = boost::asio::make_work_guard(boost::asio::get_associated_executor(handler));
        // Shared, since a runtime's callbacks are copyable and handlers need not be.
        auto held = std::make_shared<handler_type>(std::move(handler));
        with->infer(std::move(asked), [held, work](response_part answer) {
          boost::asio::post(work.get_executor(),
                            [held, work, answer = std::move(answer)]() mutable {
                              auto call = std::move(*held);
                              call(std::move(answer));
                            });
        });
      },
      token, &in, std::move(request));
}

} // namespace troupe
