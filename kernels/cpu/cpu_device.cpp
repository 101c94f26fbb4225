#include "kernels/cpu/cpu_device.hpp"

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/cpu_stream.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/threads.hpp"
#include "kernels/device/memory_budget.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cpu {

namespace {

constexpr int most_threads = 1024;

class cpu_device final : public device {
public:
  cpu_device(int threads, std::size_t memory_bytes)
      : memory_{std::make_shared<memory_budget>("cpu", memory_bytes)} {
    properties_.name = "cpu";
    properties_.kind = "cpu";
    properties_.model = processor_model();
    properties_.threads = threads;
    properties_.computes_where_called = true;
    properties_.memory_bytes = memory_bytes;
  }

  const device_properties& properties() const noexcept override { return properties_; }

  result<std::unique_ptr<buffer>> allocate(std::size_t bytes) override {
    return memory_->allocate(bytes);
  }
  result<std::unique_ptr<stream>> open_stream(stream_mode mode) override {
    return open_cpu_stream(mode, properties_.threads);
  }
  layout_rule layouts(const kernel_spec& spec) const override { return layouts_for(spec); }

  std::vector<std::string> candidates(const kernel_spec& spec) const override {
    std::vector<std::string> labels;
    std::vector<std::string_view> seen;
    for (const auto& one : candidates_for(spec.domain, spec.op_type)) {
      // Where there is nothing to fuse, a candidate that could is the same as its plain sibling.
      if (spec.post_ops.empty() && std::ranges::find(seen, one.name) != seen.end())
        continue;
      seen.push_back(one.name);
      labels.push_back(label_of(one));
    }
    return labels;
  }

  result<kernel_choice> choose_kernel(const kernel_spec& spec, weight_cache& weights) override {
    const kernel_thread prepared{spec.threads};
    return choose_from(candidates_for(spec.domain, spec.op_type), spec, weights);
  }

private:
  device_properties properties_;
  std::shared_ptr<memory_budget> memory_;
};

} // namespace

result<cpu_options> parse_cpu_options(const device_address& address) {
  cpu_options options;
  for (const auto& [key, value] : address.options) {
    if (key == "threads") {
      const auto threads = parse_device_number(key, value, most_threads);
      if (!threads)
        return propagate(threads);
      options.threads = static_cast<int>(*threads);
    } else if (key == "memory") {
      const auto bytes = parse_device_number(key, value, std::numeric_limits<std::int64_t>::max());
      if (!bytes)
        return propagate(bytes);
      options.memory_bytes = static_cast<std::size_t>(*bytes);
    } else {
      return fail(errc::invalid_argument, "device cpu: expected threads or memory, found '{}'",
                  key);
    }
  }
  return options;
}

result<std::shared_ptr<device>> make_cpu_device(const cpu_options& options) {
  if (options.threads < 0 || options.threads > most_threads)
    return fail(errc::invalid_argument, "device cpu: expected 0 to {} threads, found {}",
                most_threads, options.threads);
  if (auto capped = apply_isa_cap(); !capped)
    return propagate(capped);
  return std::make_shared<cpu_device>(options.threads > 0 ? options.threads : available_threads(),
                                      options.memory_bytes > 0 ? options.memory_bytes
                                                               : available_memory());
}

} // namespace troupe::cpu
