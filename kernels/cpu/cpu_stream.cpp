#include "kernels/cpu/cpu_stream.hpp"

#include "kernels/base/thread_name.hpp"
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

// The stream that `issue` sees. Shared by the user's handle, the thread and the events, whichever
// lives longest.
class queue final : public stream, public std::enable_shared_from_this<queue> {
public:
  void submit(issue_fn issue, done_fn done) override {
    {
      const std::lock_guard lock{mutex_};
      waiting_.emplace_back(std::move(issue), std::move(done));
      ++submitted_;
    }
    work_.notify_one();
  }
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    return copy_bytes(to, from, bytes);
  }
  result<std::unique_ptr<event>> record() override;
  void synchronize() override {
    std::unique_lock lock{mutex_};
    progress_.wait(lock, [this, point = submitted_] { return finished_ >= point; });
  }

  void close() {
    {
      const std::lock_guard lock{mutex_};
      closing_ = true;
    }
    work_.notify_one();
  }
  bool finished(std::uint64_t point) const {
    const std::lock_guard lock{mutex_};
    return finished_ >= point;
  }
  void wait_for(std::uint64_t point) const {
    std::unique_lock lock{mutex_};
    progress_.wait(lock, [&] { return finished_ >= point; });
  }

  // The thread's loop: until closed and empty.
  void work_off(int threads) {
    name_this_thread("troupe.cpu");
    const kernel_thread prepared{threads};
    std::unique_lock lock{mutex_};
    while (true) {
      work_.wait(lock, [this] { return !waiting_.empty() || closing_; });
      if (waiting_.empty())
        return;
      {
        auto [issue, done] = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        done(issue_guarded(issue, *this));
      } // what the two functions hold is released before the lock is taken again
      lock.lock();
      ++finished_;
      progress_.notify_all();
    }
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable work_;
  mutable std::condition_variable progress_;
  std::deque<std::pair<issue_fn, done_fn>> waiting_;
  std::uint64_t submitted_ = 0;
  std::uint64_t finished_ = 0;
  bool closing_ = false;
};

class queue_event final : public event {
public:
  queue_event(std::shared_ptr<const queue> of, std::uint64_t point)
      : queue_{std::move(of)}, point_{point} {}

  bool ready() const override { return queue_->finished(point_); }
  void wait() const override { queue_->wait_for(point_); }

private:
  std::shared_ptr<const queue> queue_;
  std::uint64_t point_;
};

result<std::unique_ptr<event>> queue::record() {
  const std::lock_guard lock{mutex_};
  return std::make_unique<queue_event>(shared_from_this(), submitted_);
}

// The user's end of a queue and its thread.
class thread_stream final : public stream {
public:
  explicit thread_stream(int threads)
      : queue_{std::make_shared<queue>()}, thread_{
                                               [on = queue_, threads] { on->work_off(threads); }} {}

  ~thread_stream() override {
    queue_->close();
    // The last owner may be a `done`, which runs on the thread itself.
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach();
    else
      thread_.join();
  }

  void submit(issue_fn issue, done_fn done) override {
    queue_->submit(std::move(issue), std::move(done));
  }
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    return copy_bytes(to, from, bytes);
  }
  result<std::unique_ptr<event>> record() override { return queue_->record(); }
  void synchronize() override { queue_->synchronize(); }

private:
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
