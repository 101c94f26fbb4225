#pragma once

// Candidates stand in an order that is right on most machines; tuning measures on this one.

#include "kernels/device/device.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace troupe::plan {

/// The candidates that were fastest where several take a node, by what is computed (operator,
/// attributes, shapes, threads), not by model: one table serves many. Thread-safe.
class tuning {
public:
  /// What `file` holds, if it was measured on a device of the same model; otherwise, and when there
  /// is no such file, an empty table. invalid_argument when it is no table of choices.
  [[nodiscard]] static result<std::shared_ptr<tuning>> open(std::filesystem::path file,
                                                            const device& on);

  /// The name to put into `spec.prefer`. Measures on a miss, with inputs made up and weights packed
  /// apart: a few runs of every candidate, milliseconds each. Empty where there is no choice, or
  /// where the device's memory cannot be seen.
  [[nodiscard]] std::string candidate_for(const kernel_spec& spec, device& on);

  /// Writes the table if something was measured since the last time; the file is replaced whole.
  [[nodiscard]] result<void> save();

  [[nodiscard]] std::size_t size() const;

private:
  tuning(std::filesystem::path file, std::string model);

  std::filesystem::path file_;
  std::string model_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> fastest_;
  bool changed_ = false;
};

} // namespace troupe::plan
