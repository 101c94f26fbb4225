#pragma once

#include "runtime/sequences/sequence_id.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace troupe::sequences {

/// Where the live sequences of a model version are: each lives on one placement from its start to
/// its end. Thread-safe; shared by whoever sends steps there and those who work on them.
class homes : public std::enable_shared_from_this<homes> {
public:
  struct home {
    std::size_t placement = 0;
    std::uint64_t generation = 0; ///< tells a sequence from others that had its id; never 0
  };

  /// A sequence is live as long as this is held. Move-only.
  class hold {
  public:
    hold() = default;
    hold(std::shared_ptr<homes> of, sequence_id id, std::uint64_t generation)
        : of_(std::move(of)), id_(std::move(id)), generation_(generation) {}
    hold(hold&& other) noexcept
        : of_(std::move(other.of_)), id_(std::move(other.id_)), generation_(other.generation_) {}
    hold& operator=(hold&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(id_, other.id_);
      std::swap(generation_, other.generation_);
      return *this;
    }
    ~hold() {
      if (of_)
        of_->leave(id_, generation_);
    }

  private:
    std::shared_ptr<homes> of_;
    sequence_id id_;
    std::uint64_t generation_ = 0;
  };

  /// A sequence begins on a placement. One that had its id is not found any more.
  [[nodiscard]] std::pair<home, hold> enter(const sequence_id& id, std::size_t placement);
  [[nodiscard]] std::optional<home> find(const sequence_id& id) const;
  /// Another sequence has this id now: the one here is not found any more.
  void forget(const sequence_id& id);
  [[nodiscard]] std::size_t size() const;
  /// Those on one placement.
  [[nodiscard]] std::size_t size_at(std::size_t placement) const;

private:
  void leave(const sequence_id& id, std::uint64_t generation) noexcept;

  mutable std::mutex mutex_;
  std::map<sequence_id, home> live_;
  std::map<std::size_t, std::size_t> at_; ///< live ones by placement
  std::uint64_t last_ = 0;
};

} // namespace troupe::sequences
