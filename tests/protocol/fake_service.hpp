#pragma once

// A system behind the protocols that does what a test tells it, and no more.

#include "protocol/service.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::test {

/// Answers infer with its own inputs, at once or when told to; records what it was asked.
class fake_service final : public protocol::service {
public:
  struct held_call {
    protocol::inference_request request;
    protocol::admission units;
    part_fn on_part;
    std::shared_ptr<std::atomic<bool>> cancelled;

    /// Answers with the inputs as outputs.
    void echo() { on_part(echo_of(request), true); }
    void fail_with(error why) { on_part(tl::unexpected<error>{std::move(why)}, true); }
  };

  static protocol::inference_response echo_of(const protocol::inference_request& request) {
    protocol::inference_response answer;
    answer.model_name = request.model_name;
    answer.model_version = request.model_version.empty() ? "1" : request.model_version;
    answer.id = request.id;
    for (const auto& input : request.inputs)
      answer.outputs.push_back({input.name, input.value, {}});
    return answer;
  }

  result<protocol::admission> admit(std::size_t bytes) override {
    std::lock_guard lock{mutex_};
    if (refuse_with)
      return tl::unexpected<error>{*refuse_with};
    admitted_bytes += bytes;
    ++units_out;
    return protocol::admission{[this] { --units_out; }};
  }

  std::shared_ptr<protocol::call> infer(protocol::inference_request request,
                                        protocol::admission units, part_fn on_part) override {
    if (request.model_name == "missing") {
      on_part(fail(errc::not_found, "model \"missing\" is not known"), true);
      return {};
    }
    auto cancelled = std::make_shared<std::atomic<bool>>(false);
    if (!hold) {
      on_part(echo_of(request), true);
      return std::make_shared<fake_call>(cancelled, [] {});
    }
    std::lock_guard lock{mutex_};
    held_.push_back({std::move(request), std::move(units), std::move(on_part), cancelled});
    changed_.notify_all();
    return std::make_shared<fake_call>(cancelled, [this] {
      std::lock_guard guard{mutex_};
      ++cancellations_;
      changed_.notify_all();
    });
  }

  bool live() const noexcept override { return true; }
  bool ready() const noexcept override { return is_ready; }

  void metadata(std::string model, std::string version,
                answer<protocol::model_metadata> done) override {
    if (model == "missing")
      return done(fail(errc::not_found, "model \"missing\" is not known"));
    protocol::model_metadata found;
    found.name = model;
    found.versions = {version.empty() ? "1" : version};
    found.platform = "onnx";
    found.inputs = {{"x", "FP32", {-1, 4}}};
    found.outputs = {{"y", "BYTES", {-1}}};
    found.properties = {{"character", "a\nb"}};
    done(std::move(found));
  }
  void model_ready(std::string model, std::string, answer<bool> done) override {
    if (model == "missing")
      return done(fail(errc::not_found, "model \"missing\" is not known"));
    done(model != "loading");
  }
  void index(answer<std::vector<protocol::model_index_entry>> done) override {
    done(std::vector<protocol::model_index_entry>{{"echo", "1", "READY", ""},
                                                  {"broken", "2", "UNAVAILABLE", "no file"}});
  }
  void statistics(std::string model,
                  answer<std::vector<protocol::model_statistics>> done) override {
    protocol::model_statistics one;
    one.name = model.empty() ? "echo" : model;
    one.version = "1";
    one.inference_count = 7;
    one.execution_count = 3;
    one.success = {7, 700};
    one.queue = {7, 70};
    one.batches = {{4, {2, 400}}};
    done(std::vector{one});
  }
  void load(std::string model, answer<void> done) override {
    if (model == "missing")
      return done(fail(errc::not_found, "model \"missing\" is not in the repository"));
    done({});
  }
  void unload(std::string, answer<void> done) override { done({}); }

  /// Waits for the next held call.
  held_call take() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !held_.empty(); });
    auto taken = std::move(held_.front());
    held_.pop_front();
    return taken;
  }
  void wait_for_held(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return held_.size() >= count; });
  }
  [[nodiscard]] std::size_t held() {
    std::lock_guard lock{mutex_};
    return held_.size();
  }
  void wait_for_cancellations(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return cancellations_ >= count; });
  }
  void refuse(std::optional<error> why) {
    std::lock_guard lock{mutex_};
    refuse_with = std::move(why);
  }

  std::atomic<bool> hold = false;
  std::atomic<bool> is_ready = true;
  std::atomic<int> units_out = 0;
  std::atomic<std::size_t> admitted_bytes = 0;

private:
  struct fake_call final : protocol::call {
    fake_call(std::shared_ptr<std::atomic<bool>> flag, std::function<void()> told)
        : flag_(std::move(flag)), told_(std::move(told)) {}
    void cancel() noexcept override {
      if (!flag_->exchange(true))
        told_();
    }
    std::shared_ptr<std::atomic<bool>> flag_;
    std::function<void()> told_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<error> refuse_with;
  std::deque<held_call> held_;
  int cancellations_ = 0;
};

} // namespace troupe::test
