// Times the candidates of convolutions side by side.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/cpu_stream.hpp"
#include "kernels/cpu/threads.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

namespace {

using namespace troupe;
using seconds = std::chrono::duration<double>;

struct shape_of_interest {
  const char* name;
  std::int64_t batch, channels, height, width, out_channels, kernel, stride, groups;
};

constexpr shape_of_interest shapes[] = {
    {"first", 1, 3, 736, 736, 16, 3, 2, 1},        {"first", 1, 3, 224, 224, 64, 7, 2, 1},
    {"pointwise", 1, 16, 368, 368, 32, 1, 1, 1},   {"pointwise", 1, 96, 92, 92, 96, 1, 1, 1},
    {"pointwise", 1, 240, 12, 80, 240, 1, 1, 1},   {"pointwise", 1, 256, 14, 14, 1024, 1, 1, 1},
    {"pointwise", 1, 512, 28, 28, 1024, 1, 2, 1},  {"dense", 1, 96, 184, 184, 24, 3, 1, 1},
    {"dense", 1, 96, 46, 46, 24, 3, 1, 1},         {"dense", 1, 64, 56, 56, 64, 3, 1, 1},
    {"dense", 1, 256, 14, 14, 256, 3, 1, 1},       {"dense", 8, 512, 7, 7, 512, 3, 1, 1},
    {"depthwise", 1, 16, 368, 368, 16, 3, 1, 16},  {"depthwise", 1, 96, 92, 92, 96, 3, 2, 96},
    {"depthwise", 1, 240, 12, 80, 240, 5, 1, 240}, {"depthwise", 8, 240, 12, 80, 240, 5, 1, 240},
};

std::shared_ptr<const tensor> random_tensor(const shape& dims, std::mt19937& random) {
  const auto count = static_cast<std::size_t>(element_count(dims));
  auto block = allocate_aligned(count * sizeof(float));
  auto* values = reinterpret_cast<float*>(block.get());
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(random() % 1024) / 1024.0F - 0.5F;
  const std::byte* data = block.get();
  return std::make_shared<tensor>(
      tensor{dtype::float32, dims, {std::move(block), {data, count * sizeof(float)}}});
}

struct contender {
  std::shared_ptr<const kernel> run;
  std::shared_ptr<std::byte[]> workspace;
  seconds best = seconds::max();
};

void compare(const shape_of_interest& of, int threads, seconds limit) {
  std::mt19937 random{1};
  const auto pad = of.kernel / 2;
  const auto extent = [&](std::int64_t in) { return (in + 2 * pad - of.kernel) / of.stride + 1; };
  const tensor_desc in{
      dtype::float32, {of.batch, of.channels, of.height, of.width}, layout::channels_last};
  const tensor_desc out{dtype::float32,
                        {of.batch, of.out_channels, extent(of.height), extent(of.width)},
                        layout::channels_last};
  const auto input = random_tensor(in.dims, random);
  const auto output = random_tensor(out.dims, random);
  const auto weights =
      random_tensor({of.out_channels, of.channels / of.groups, of.kernel, of.kernel}, random);
  const auto bias = random_tensor({of.out_channels}, random);
  attribute_map attributes;
  attributes.set("strides", std::vector<std::int64_t>{of.stride, of.stride});
  attributes.set("pads", std::vector<std::int64_t>(4, pad));
  attributes.set("group", of.groups);
  const std::vector<operand> operands{{true, in, nullptr},
                                      {true, {dtype::float32, weights->dims}, weights},
                                      {true, {dtype::float32, bias->dims}, bias}};
  const std::vector<post_op> post_ops{{post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F}};
  const bool wanted = true;
  const kernel_spec spec{"",        "Conv",       13,       &attributes, operands,
                         {&out, 1}, {&wanted, 1}, post_ops, threads};

  weight_cache cache;
  const cpu::kernel_thread prepared{threads};
  std::vector<contender> contenders;
  for (const auto& candidate : cpu::candidates_for("", "Conv")) {
    if (candidate.post_ops != cpu::post_ops_by::kernel)
      continue;
    auto choice = cpu::choose_from({&candidate, 1}, spec, cache);
    if (choice)
      contenders.push_back({choice->chosen, allocate_aligned(choice->chosen->workspace_bytes())});
  }
  const auto view = [](const std::shared_ptr<const tensor>& from, const tensor_desc& desc) {
    return tensor_view{const_cast<std::byte*>(from->data.data()), desc};
  };
  const std::vector<tensor_view> views{view(input, in), view(weights, operands[1].desc),
                                       view(bias, operands[2].desc)};
  const tensor_view target = view(output, out);
  const auto on = cpu::open_cpu_stream(stream_mode::inline_, threads);
  const auto start = std::chrono::steady_clock::now();
  do {
    for (auto& one : contenders) {
      const auto began = std::chrono::steady_clock::now();
      const auto launched = one.run->launch(
          *on, {views, {&target, 1}, {one.workspace.get(), one.run->workspace_bytes()}});
      if (launched)
        one.best = std::min<seconds>(one.best, std::chrono::steady_clock::now() - began);
    }
  } while (std::chrono::steady_clock::now() - start < limit);

  const auto flops =
      2.0 * static_cast<double>(out.elements() * of.channels / of.groups * of.kernel * of.kernel);
  fmt::print("{} {} to {}, {}x{} stride {}\n", of.name, to_string(in.dims), of.out_channels,
             of.kernel, of.kernel, of.stride);
  for (const auto& one : contenders)
    fmt::print("  {:<32} {:9.4f} ms {:7.1f} GFLOP/s {:6.2f}\n", one.run->name(),
               one.best.count() * 1e3, flops / one.best.count() * 1e-9,
               one.best / contenders.front().best);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Times the candidates of convolutions side by side, channels-last, hard-swish fused."};
  int threads = 1;
  double limit = 0.3;
  std::string only;
  app.add_option("--threads", threads, "Size of the thread team")->check(CLI::Range(1, 1024));
  app.add_option("--seconds", limit, "Time for each shape")->check(CLI::PositiveNumber);
  app.add_option("--only", only, "Shapes of one kind: first, pointwise, dense, depthwise");
  CLI11_PARSE(app, argc, argv);
  for (const auto& one : shapes)
    if (only.empty() || only == one.name)
      compare(one, threads, seconds{limit});
  return 0;
}
