#include "kernels/sim/sim_device.hpp"

#include "kernels/cpu/candidate.hpp"
#include "kernels/device/memory_budget.hpp"
#include "kernels/sim/sim_stream.hpp"

#include <algorithm>
#include <limits>

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
    const bool real = options.time == nullptr;
    if (real)
      options.time = make_real_timeline();
    engine_ = std::make_shared<engine>(std::move(options), real);
  }

  const device_properties& properties() const noexcept override { return properties_; }
  result<std::unique_ptr<buffer>> allocate(std::size_t bytes) override {
    return memory_->allocate(bytes);
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

private:
  device_properties properties_;
  std::shared_ptr<memory_budget> memory_;
  std::shared_ptr<engine> engine_;
};

} // namespace

result<sim_options> parse_sim_options(const device_address& address) {
  constexpr std::int64_t most_microseconds = std::int64_t{3600} * 1'000'000;
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  sim_options options;
  for (const auto& [key, value] : address.options) {
    const bool is_time = key == "launch_us" || key == "row_us";
    if (!is_time && key != "memory" && key != "tickets" && key != "fail_every")
      return fail(
          errc::invalid_argument,
          "device sim: expected launch_us, row_us, memory, tickets or fail_every, found '{}'", key);
    const auto number = parse_device_number(key, value,
                                            is_time            ? most_microseconds
                                            : key == "tickets" ? 64
                                                               : any);
    if (!number)
      return propagate(number);
    if (key == "launch_us")
      options.launch_cost = std::chrono::microseconds{*number};
    else if (key == "row_us")
      options.row_cost = std::chrono::microseconds{*number};
    else if (key == "memory")
      options.memory_bytes = static_cast<std::size_t>(*number);
    else if (key == "tickets")
      options.tickets = std::max(1, static_cast<int>(*number));
    else
      options.fail_every = static_cast<std::uint64_t>(*number);
  }
  return options;
}

std::shared_ptr<device> make_sim_device(sim_options options) {
  return std::make_shared<sim_device>(std::move(options));
}

} // namespace troupe::sim
