#include "kernels/sim/sim_device.hpp"

#include "kernels/cpu/candidate.hpp"
#include "kernels/device/memory_budget.hpp"
#include "kernels/sim/sim_stream.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace troupe::sim {

namespace {

// The CPU's kernel, and a note on the stream of how many rows went through it.
class sim_kernel final : public kernel {
public:
  explicit sim_kernel(std::shared_ptr<const kernel> computes) : computes_{std::move(computes)} {}

  std::string name() const override { return "sim:" + computes_->name(); }
  std::size_t workspace_bytes() const noexcept override { return computes_->workspace_bytes(); }
  bool can_overwrite(std::size_t input) const noexcept override {
    return computes_->can_overwrite(input);
  }
  bool reads(std::size_t input) const noexcept override { return computes_->reads(input); }

  result<void> launch(stream& on, const kernel_args& args) const override {
    auto* simulated = dynamic_cast<stream_core*>(&on);
    if (simulated == nullptr)
      return fail(errc::failed_precondition, "a simulated kernel was launched on another device");
    if (auto ok = simulated->check_writes(args.outputs); !ok)
      return ok;
    const auto& dims = args.outputs[0].desc.dims;
    simulated->count_rows(dims.empty() ? 1 : dims[0]);
    return computes_->launch(on, args);
  }

private:
  std::shared_ptr<const kernel> computes_;
};

class sim_device final : public device {
public:
  explicit sim_device(sim_options options)
      : memory_{std::make_shared<memory_budget>(options.name, options.memory_bytes)} {
    properties_.name = options.name;
    properties_.kind = "sim";
    properties_.memory_bytes = options.memory_bytes;
    properties_.tickets = options.tickets;
    properties_.host_visible = options.host_visible;
    if (!options.host_visible)
      apart_ = std::make_shared<apart_memory>(options.name, options.memory_bytes,
                                              options.host_memory_bytes);
    const bool real = options.time == nullptr;
    if (real)
      options.time = make_real_timeline();
    engine_ = std::make_shared<engine>(std::move(options), real, apart_);
  }

  const device_properties& properties() const noexcept override { return properties_; }
  result<std::unique_ptr<buffer>> allocate(std::size_t bytes) override {
    return apart_ ? apart_->allocate(side::device, bytes) : memory_->allocate(bytes);
  }
  result<std::unique_ptr<buffer>> allocate_host(std::size_t bytes) override {
    return apart_ ? apart_->allocate(side::host, bytes) : device::allocate_host(bytes);
  }
  result<std::unique_ptr<stream>> open_stream(stream_mode mode) override {
    return open_sim_stream(mode, engine_);
  }
  layout_rule layouts(const kernel_spec&) const override { return layout_rule::row_major_only; }

  result<kernel_choice> choose_kernel(const kernel_spec& spec, weight_cache& weights) override {
    const auto candidates = cpu::candidates_for(spec.domain, spec.op_type);
    auto choice =
        cpu::choose_from(candidates.empty() ? candidates : candidates.last(1), spec, weights);
    if (choice)
      choice->chosen = std::make_shared<const sim_kernel>(std::move(choice->chosen));
    return choice;
  }

  traffic copied() const { return apart_ ? apart_->copied() : traffic{}; }

private:
  device_properties properties_;
  std::shared_ptr<memory_budget> memory_;
  std::shared_ptr<apart_memory>
      apart_; ///< in the place of `memory_` where that is not host_visible
  std::shared_ptr<engine> engine_;
};

} // namespace

result<sim_options> parse_sim_options(const device_address& address) {
  constexpr std::int64_t most_microseconds = std::int64_t{3600} * 1'000'000;
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  sim_options options;
  struct known_key {
    std::string_view name;
    std::int64_t most;
    std::function<void(std::int64_t)> set;
  };
  const std::array known{
      known_key{"launch_us", most_microseconds,
                [&](auto n) { options.launch_cost = std::chrono::microseconds{n}; }},
      known_key{"row_us", most_microseconds,
                [&](auto n) { options.row_cost = std::chrono::microseconds{n}; }},
      known_key{"memory", any, [&](auto n) { options.memory_bytes = static_cast<std::size_t>(n); }},
      known_key{"tickets", 64, [&](auto n) { options.tickets = std::max(1, static_cast<int>(n)); }},
      known_key{"fail_every", any,
                [&](auto n) { options.fail_every = static_cast<std::uint64_t>(n); }},
      known_key{"host_visible", 1, [&](auto n) { options.host_visible = n == 1; }},
      known_key{"host_memory", any,
                [&](auto n) { options.host_memory_bytes = static_cast<std::size_t>(n); }},
  };
  for (const auto& [key, value] : address.options) {
    const auto at = std::ranges::find(known, key, &known_key::name);
    if (at == known.end())
      return fail(errc::invalid_argument,
                  "device sim: expected launch_us, row_us, memory, tickets, fail_every, "
                  "host_visible or host_memory, found '{}'",
                  key);
    const auto number = parse_device_number(key, value, at->most);
    if (!number)
      return propagate(number);
    at->set(*number);
  }
  return options;
}

traffic traffic_of(const device& on) {
  const auto* simulated = dynamic_cast<const sim_device*>(&on);
  return simulated ? simulated->copied() : traffic{};
}

std::shared_ptr<device> make_sim_device(sim_options options) {
  return std::make_shared<sim_device>(std::move(options));
}

} // namespace troupe::sim
