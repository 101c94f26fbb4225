#pragma once

#include "runtime/sequences/homes.hpp"
#include "runtime/sequences/sequence_id.hpp"
#include "runtime/store/lease.hpp"

#include <cstdint>
#include <memory>

namespace troupe::actors {

/// A sequence's state on its device; null where there is none to keep.
using state_ptr = std::shared_ptr<store::lease>;

/// What makes a request a step of a sequence.
struct sequence_step {
  sequences::sequence_id id;
  bool start = false;
  bool end = false;
  std::uint64_t generation = 0;  ///< of the sequence; set with the placement where it lives
  sequences::homes::hold hold{}; ///< of a start, until its batcher takes it
  state_ptr state{};             ///< read and written by its run; set before that
};

} // namespace troupe::actors
