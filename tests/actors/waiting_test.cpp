// Ways to wait for an answer, and what else may live in the process: the user's Asio loop, the
// user's actor system, a second runtime.

#include "actors/asio.hpp"
#include "actors/awaitable.hpp"
#include "kernels/tensor/byte_strings.hpp"
#include "tests/actors/texts.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/type_id.hpp>

#include <thread>

// The user's own messages begin at the same number as ours.
CAF_BEGIN_TYPE_ID_BLOCK(neighbour, caf::first_custom_type_id)
CAF_ADD_ATOM(neighbour, neighbour, double_atom, "double")
CAF_ADD_ATOM(neighbour, neighbour, ask_atom, "ask")
CAF_END_TYPE_ID_BLOCK(neighbour)

using namespace troupe;

namespace {

inference_request asking(const std::string& text) {
  return test::text_request("echo", text);
}

using test::text_of;

/// Answers what it was asked; keeps what says "wait".
struct echo : stage {
  void on_request(stage_context&, job request) override {
    const auto input = request.request().inputs[0];
    if (unpack_strings(input.value)->at(0) == "wait")
      return kept.push_back(std::move(request));
    inference_response answer;
    answer.outputs.push_back(input);
    request.reply(std::move(answer));
  }
  std::vector<job> kept;
};

std::unique_ptr<runtime> started() {
  options with;
  with.devices = {"sim"};
  auto made = runtime::start(std::move(with));
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  BOOST_REQUIRE((*made)->add_stage("echo", {{{"text", "BYTES", {-1}}}, {{"text", "BYTES", {-1}}}},
                                   [] { return std::make_unique<echo>(); }));
  return std::move(*made);
}

/// The least that a coroutine can be: runs at once, ends by itself.
struct task {
  struct promise_type {
    task get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

} // namespace

BOOST_AUTO_TEST_SUITE(waiting_for_an_answer)

BOOST_AUTO_TEST_CASE(an_asio_coroutine_awaits_it_on_its_own_loop) {
  auto system = started();
  boost::asio::io_context io;
  std::string said;
  std::thread::id where;
  boost::asio::co_spawn(
      io,
      [&]() -> boost::asio::awaitable<void> {
        auto first = co_await async_infer(*system, asking("a"), boost::asio::use_awaitable);
        auto second =
            co_await async_infer(*system, asking(text_of(first) + "b"), boost::asio::use_awaitable);
        said = text_of(second);
        where = std::this_thread::get_id();
      },
      boost::asio::detached);
  io.run(); // does not run dry while a request is on its way
  BOOST_TEST(said == "ab");
  BOOST_TEST((where == std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(a_handler_gets_it_through_its_executor) {
  auto system = started();
  boost::asio::io_context io;
  std::string said;
  async_infer(
      *system, asking("a"),
      boost::asio::bind_executor(io, [&, keep = std::make_unique<int>()](
                                         const response_part& answer) { said = text_of(answer); }));
  io.run();
  BOOST_TEST(said == "a");
  auto refused = asking("a");
  refused.model_name = "nobody";
  auto later = async_infer(*system, std::move(refused), boost::asio::use_future);
  BOOST_TEST((later.get().error().code == errc::not_found));
}

BOOST_AUTO_TEST_CASE(any_coroutine_awaits_it) {
  auto system = started();
  std::promise<std::string> said;
  auto wait = [&]() -> task {
    auto answer = co_await infer_awaited(*system, asking("a"));
    said.set_value(text_of(answer));
  };
  auto waiting = wait();
  BOOST_TEST(said.get_future().get() == "a");
  system->stop(); // and with it whoever resumed the coroutine
  waiting.handle.destroy();
}

BOOST_AUTO_TEST_CASE(a_refusal_is_an_answer_at_once) {
  options with;
  with.devices = {"sim"};
  with.max_request_bytes = 1;
  auto system = runtime::start(std::move(with));
  BOOST_REQUIRE(system);
  std::string said;
  auto wait = [&]() -> task {
    auto answer = co_await infer_awaited(**system, asking("a"));
    said = answer ? "" : std::string{to_string(answer.error().code)};
  };
  auto waiting = wait();
  BOOST_TEST(said == "INVALID_ARGUMENT");
  waiting.handle.destroy();
}

BOOST_AUTO_TEST_CASE(a_coroutine_that_is_destroyed_cancels_its_request) {
  auto system = started();
  boost::asio::io_context io;
  bool resumed = false;
  auto wait = [&]() -> task {
    co_await infer_awaited(*system, asking("wait"), [&io](std::function<void()> run) {
      boost::asio::post(io, std::move(run));
    });
    resumed = true;
  };
  auto waiting = wait();
  waiting.handle.destroy();
  system->stop(std::chrono::seconds{60}); // returns once the request is answered
  io.run();
  BOOST_TEST(!resumed);
}

BOOST_AUTO_TEST_CASE(the_users_own_actors_ask_beside_it) {
  auto system = started();
  caf::actor_system_config config;
  caf::actor_system actors{config};
  {
    auto doubler = actors.spawn([&system](caf::event_based_actor* self) -> caf::behavior {
      return {[=](neighbour::double_atom, int value) { return 2 * value; },
              [self, &system](neighbour::ask_atom, const std::string& text) {
                auto promise = self->make_response_promise<std::string>();
                // Answers come on the runtime's threads: they return to the actor as a message.
                system->infer(asking(text), [to = caf::actor{self}](const response_part& answer) {
                  caf::anon_send(to, neighbour::ask_atom_v, text_of(answer), true);
                });
                self->become(caf::keep_behavior,
                             [=](neighbour::ask_atom, const std::string& said, bool) mutable {
                               promise.deliver(said);
                               self->unbecome();
                             });
                return promise;
              }};
    });
    caf::scoped_actor self{actors};
    int doubled = 0;
    std::string said;
    self->request(doubler, caf::infinite, neighbour::double_atom_v, 21)
        .receive([&](int value) { doubled = value; }, [](const caf::error&) {});
    self->request(doubler, caf::infinite, neighbour::ask_atom_v, std::string{"hello"})
        .receive([&](const std::string& text) { said = text; }, [](const caf::error&) {});
    BOOST_TEST(doubled == 42);
    BOOST_TEST(said == "hello");
  }
  BOOST_TEST(text_of(system->infer(asking("still")).get()) == "still");
}

BOOST_AUTO_TEST_CASE(two_runtimes_do_not_know_each_other) {
  auto one = started();
  auto two = started();
  BOOST_REQUIRE(two->unload("echo"));
  BOOST_TEST(text_of(one->infer(asking("a")).get()) == "a");
  BOOST_TEST((two->infer(asking("a")).get().error().code == errc::not_found));
  BOOST_TEST(one->models().at(0).state == "READY");
  BOOST_TEST(two->models().at(0).state == "UNAVAILABLE");
  two->stop();
  BOOST_TEST(text_of(one->infer(asking("b")).get()) == "b");
}

BOOST_AUTO_TEST_SUITE_END()
