#pragma once

#include "kernels/cpu/candidate.hpp"

#include <cstdint>
#include <type_traits>

namespace troupe::cpu {

/// What a kernel says about itself. The masks have bit i for input i.
struct kernel_facts {
  std::string name = "reference";
  std::size_t workspace_bytes = 0;
  std::uint64_t overwrites = 0; ///< output 0 may lie in the memory of these inputs
  std::uint64_t unread = 0;     ///< not read at launch
};

/// A kernel that is one function of its arguments. `Run` answers `result<void>`, or nothing when it
/// cannot fail, and is called from any number of threads at once.
template <class Run>
class function_kernel final : public kernel {
public:
  function_kernel(kernel_facts facts, Run run) : facts_{std::move(facts)}, run_{std::move(run)} {}

  std::string name() const override { return facts_.name; }
  std::size_t workspace_bytes() const noexcept override { return facts_.workspace_bytes; }
  bool can_overwrite(std::size_t input) const noexcept override {
    return input < 64 && ((facts_.overwrites >> input) & 1U) != 0;
  }
  bool reads(std::size_t input) const noexcept override {
    return input >= 64 || ((facts_.unread >> input) & 1U) == 0;
  }
  result<void> launch(stream&, const kernel_args& args) const override {
    if constexpr (std::is_void_v<std::invoke_result_t<const Run&, const kernel_args&>>) {
      run_(args);
      return {};
    } else {
      return run_(args);
    }
  }

private:
  kernel_facts facts_;
  Run run_;
};

template <class Run>
[[nodiscard]] std::shared_ptr<const kernel> make_kernel(kernel_facts facts, Run run) {
  return std::make_shared<const function_kernel<Run>>(std::move(facts), std::move(run));
}

} // namespace troupe::cpu
