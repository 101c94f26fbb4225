// How long a plan takes to make: the first one, which also packs the weights, those for further
// batch sizes, which find them packed, and each once more after it has left the cache.
//
//   plan_time MODEL.onnx THREADS NAME=DIMS…      DIMS without the batch, such as x=3,224,224

#include "kernels/cpu/cpu_device.hpp"
#include "runtime/exec/model.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>
#include <string>

namespace {

using namespace troupe;

shape parse_dims(const std::string& text) {
  shape dims;
  std::istringstream in{text};
  for (std::string size; std::getline(in, size, ',');)
    dims.push_back(std::atoll(size.c_str()));
  return dims;
}

int fail_with(const error& why) {
  fmt::print(stderr, "plan_time: {}\n", why.text);
  return 1;
}

struct timed_plan {
  std::shared_ptr<const plan::plan> made;
  double ms = 0;
  double processor_ms = 0;
};

result<timed_plan> make(exec::model& of, const std::map<std::string, shape>& rows,
                        std::int64_t batch) {
  std::vector<shape> dims;
  for (const auto& input : of.io().inputs) {
    shape one{batch};
    if (const auto row = rows.find(input.name); row != rows.end())
      one.insert(one.end(), row->second.begin(), row->second.end());
    dims.push_back(std::move(one));
  }
  const auto began = std::chrono::steady_clock::now();
  const auto processor_began = std::clock();
  auto plan = of.make_plan(dims);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  const auto processor = 1000.0 * static_cast<double>(std::clock() - processor_began);
  if (!plan)
    return propagate(plan);
  return timed_plan{*std::move(plan), took.count(), processor / CLOCKS_PER_SEC};
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "plan_time: usage: plan_time MODEL.onnx THREADS NAME=DIMS…\n");
    return 2;
  }
  std::map<std::string, shape> rows;
  for (int index = 3; index < argc; ++index) {
    const std::string text{argv[index]};
    const auto split = text.find('=');
    rows[text.substr(0, split)] = parse_dims(text.substr(split + 1));
  }
  auto device = cpu::make_cpu_device({.threads = std::atoi(argv[2])});
  if (!device)
    return fail_with(device.error());
  auto model = exec::model::load(argv[1], *device, {.max_cached_plans = 1});
  if (!model)
    return fail_with(model.error());
  for (std::int64_t batch : {1, 2, 3, 4, 8, 16}) {
    const auto first = make(**model, rows, batch);
    if (!first)
      return fail_with(first.error());
    if (auto other = make(**model, rows, 5); !other)
      return fail_with(other.error());
    const auto again = make(**model, rows, batch);
    if (!again)
      return fail_with(again.error());
    fmt::print("batch {:3}: {:8.2f} ms ({:.2f} ms of processor time), again {:6.2f} ms, {} steps, "
               "arena {:.2f} MB, bound {:.2f} MB, weights {:.2f} MB\n",
               batch, first->ms, first->processor_ms, again->ms, first->made->steps.size(),
               static_cast<double>(first->made->arena_bytes) / 1e6,
               static_cast<double>(first->made->live_bound_bytes) / 1e6,
               static_cast<double>((*model)->weight_bytes()) / 1e6);
  }
  return 0;
}
