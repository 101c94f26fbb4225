#include "kernels/cpu/cpu_stream.hpp"

#include "kernels/cpu/threads.hpp"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace troupe::cpu {

namespace {

result<void> copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0)
    std::memmove(to, from, bytes);
  return {};
}

// The edge at which an exception of a kernel (in practice: no memory left) becomes an error.
// Nothing above this frame on the stream's thread could catch it.
result<void> issue_guarded(const stream::issue_fn& issue, stream& on) {
  try {
    return issue(on);
  } catch (const std::exception& thrown) {
    return fail(errc::internal, "a kernel threw: {}", thrown.what());
  }
}

class passed_event final : public event {
public:
  bool ready() const override { return true; }
  void wait() const override {}
};

class inline_stream final : public stream {
public:
  explicit inline_stream(int threads) : threads_{threads} {}

  void submit(issue_fn issue, done_fn done) override {
    result<void> outcome;
    {
      const kernel_thread prepared{threads_};
      outcome = issue_guarded(issue, *this);
    }
    done(std::move(outcome));
  }
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    return copy_bytes(to, from, bytes);
  }
  result<std::unique_ptr<event>> record() override { return std::make_unique<passed_event>(); }
  void synchronize() override {}

private:
  int threads_;
};

// Shared by a stream, its thread and its events, whichever lives longest.
struct queue {
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable progress;
  std::deque<std::pair<stream::issue_fn, stream::done_fn>> waiting;
  std::uint64_t submitted = 0;
  std::uint64_t finished = 0;
  bool closing = false;
};

class queue_event final : public event {
public:
  queue_event(std::shared_ptr<queue> of, std::uint64_t point)
      : queue_{std::move(of)}, point_{point} {}

  bool ready() const override {
    const std::lock_guard lock{queue_->mutex};
    return queue_->finished >= point_;
  }
  void wait() const override {
    std::unique_lock lock{queue_->mutex};
    queue_->progress.wait(lock, [this] { return queue_->finished >= point_; });
  }

private:
  std::shared_ptr<queue> queue_;
  std::uint64_t point_;
};

class thread_stream final : public stream {
public:
  explicit thread_stream(int threads)
      : queue_{std::make_shared<queue>()}, thread_{[this, threads] { run(threads); }} {}

  ~thread_stream() override {
    {
      const std::lock_guard lock{queue_->mutex};
      queue_->closing = true;
    }
    queue_->work.notify_one();
    thread_.join();
  }

  void submit(issue_fn issue, done_fn done) override {
    {
      const std::lock_guard lock{queue_->mutex};
      queue_->waiting.emplace_back(std::move(issue), std::move(done));
      ++queue_->submitted;
    }
    queue_->work.notify_one();
  }
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    return copy_bytes(to, from, bytes);
  }
  result<std::unique_ptr<event>> record() override {
    const std::lock_guard lock{queue_->mutex};
    return std::make_unique<queue_event>(queue_, queue_->submitted);
  }
  void synchronize() override {
    std::unique_lock lock{queue_->mutex};
    queue_->progress.wait(lock, [this, point = queue_->submitted] { //
      return queue_->finished >= point;
    });
  }

private:
  void run(int threads) {
    name_this_thread("troupe.cpu");
    const kernel_thread prepared{threads};
    std::unique_lock lock{queue_->mutex};
    while (true) {
      queue_->work.wait(lock, [this] { return !queue_->waiting.empty() || queue_->closing; });
      if (queue_->waiting.empty())
        return;
      {
        auto [issue, done] = std::move(queue_->waiting.front());
        queue_->waiting.pop_front();
        lock.unlock();
        done(issue_guarded(issue, *this));
      } // what the two functions hold is released before the lock is taken again
      lock.lock();
      ++queue_->finished;
      queue_->progress.notify_all();
    }
  }

  std::shared_ptr<queue> queue_;
  std::thread thread_;
};

} // namespace

std::unique_ptr<stream> open_cpu_stream(stream_mode mode, int threads) {
  if (mode == stream_mode::inline_)
    return std::make_unique<inline_stream>(threads);
  return std::make_unique<thread_stream>(threads);
}

} // namespace troupe::cpu
