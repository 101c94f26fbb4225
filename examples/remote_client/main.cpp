// Asks a running server, over msgpack/TCP or REST.
//   troupe serve path/to/add/1/model.onnx …     or a repository that has `add`
//   remote_client tcp://127.0.0.1:8003
// The model `add` adds two float32 tensors [batch, 4].

#include <troupe/client.hpp>

#include <array>
#include <cstdio>
#include <future>
#include <span>
#include <utility>
#include <vector>

namespace {

namespace client = troupe::client;

constexpr std::size_t columns = 4;

troupe::protocol::named_tensor row(const char* name, float first) {
  const std::array<float, columns> values{first, first + 1, first + 2, first + 3};
  return {name,
          {.type = troupe::dtype::float32,
           .dims = {1, columns},
           .data = troupe::copy_of(std::as_bytes(std::span{values}))},
          {}};
}

client::inference_request adding(float a, float b) {
  client::inference_request request;
  request.model_name = "add";
  request.inputs.push_back(row("a", a));
  request.inputs.push_back(row("b", b));
  return request;
}

int fail(const troupe::error& why) {
  std::fprintf(stderr, "remote_client: %s\n", troupe::to_string(why).c_str());
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: remote_client tcp://HOST:PORT\n");
    return 2;
  }
  auto server = client::connect(argv[1], {.timeout = std::chrono::seconds{10}});
  if (!server)
    return fail(server.error());
  const auto about = (*server)->metadata("add");
  if (!about)
    return fail(about.error());
  std::printf("add takes %zu inputs\n", about->inputs.size());

  // One connection, many requests in flight: the server batches what comes together.
  std::vector<std::future<client::response_part>> answers;
  for (int i = 0; i < 8; ++i)
    answers.push_back((*server)->infer_async(adding(static_cast<float>(i), 10)));
  for (int i = 0; i < 8; ++i) {
    const auto answer = answers[static_cast<std::size_t>(i)].get();
    if (!answer)
      return fail(answer.error());
    const auto sum = troupe::elements_of<float>(answer->outputs.front().value.data);
    std::printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
    if (sum.size() != columns || sum[0] != static_cast<float>(i) + 10)
      return 1;
  }

  auto wrong = adding(1, 2);
  wrong.inputs.pop_back();
  const auto refused = (*server)->infer(std::move(wrong));
  if (refused)
    return 1;
  std::printf("as expected: %s\n", troupe::to_string(refused.error()).c_str());
  return 0;
}
