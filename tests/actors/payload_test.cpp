// Requests that are kept with a capture.

#include "actors/capture_recorder.hpp"
#include "protocol/msgpack/encode.hpp"
#include "protocol/msgpack/recorded_requests.hpp"
#include "runtime/capture/reader.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::test;
using protocol::rpc::recorded_requests;

namespace {

namespace fs = std::filesystem;

struct capture_pair {
  capture_pair() : file(fs::temp_directory_path() / fmt::format("troupe-{}.kept", getpid())) {}
  ~capture_pair() {
    fs::remove(file);
    fs::remove(requests());
  }
  fs::path requests() const { return file.string() + ".requests"; }

  std::shared_ptr<capture_recorder> open(const std::shared_ptr<const clock_source>& clock,
                                         std::optional<payload_bounds> bounds) const {
    auto made =
        capture_recorder::open(file, clock, {7, {{"fake", "fake", 2}}, 64, 1 << 20, 60s}, bounds);
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
    return *made;
  }
  template <class Record>
  std::vector<Record> records() const {
    std::ifstream from{file};
    capture::reader all{from};
    std::vector<Record> found;
    for (;;) {
      auto next = all.next();
      BOOST_REQUIRE_MESSAGE(next, (next ? "" : next.error().text));
      if (!*next)
        return found;
      if (auto* one = std::get_if<Record>(&**next))
        found.push_back(std::move(*one));
    }
  }
  recorded_requests kept() const {
    auto read = recorded_requests::open(requests());
    BOOST_REQUIRE_MESSAGE(read, (read ? "" : read.error().text));
    return *std::move(read);
  }

  fs::path file;
};

// One input of so many bytes.
inference_request of_bytes(std::size_t bytes) {
  inference_request made;
  made.model_name = "m";
  const std::vector<std::byte> data(bytes, std::byte{7});
  made.inputs.push_back(
      {"x", tensor{dtype::uint8, {static_cast<std::int64_t>(bytes)}, copy_of(data)}, {}});
  return made;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(kept_requests, capture_pair)

BOOST_AUTO_TEST_CASE(are_what_was_asked_under_the_number_of_the_capture) {
  {
    actor_fixture world;
    world.parts.recorder = open(world.clock, payload_bounds{});
    world.start(latency, 16);
    world.infer("first", 1, 2.5F, 60s, 3);
    world.infer("second", [&](inference_request& asked) {
      asked.parameters["sequence_start"] = true;
      asked.outputs = {{"y", {}}};
      asked.deadline = world.clock->now() + 5ms;
    });
    world.infer("wide", 3, -1);
    while (world.work_once()) {
    }
  }
  BOOST_TEST(records<capture::header>().at(0).payloads);
  const auto asks = records<capture::ask>();
  auto read = kept();
  BOOST_REQUIRE(read.entries().size() == 3u);
  BOOST_REQUIRE(asks.size() == 3u);
  for (std::size_t i = 0; i < 3; ++i)
    BOOST_TEST(read.entries()[i].id == asks[i].number);
  BOOST_TEST(records<capture::payloads_lost>().empty());

  const auto first = read.load(read.entries()[0]);
  const auto second = read.load(read.entries()[1]);
  const auto wide = read.load(read.entries()[2]);
  BOOST_REQUIRE(first && second && wide);
  BOOST_TEST(first->id == "first");
  BOOST_TEST(std::get<std::int64_t>(first->parameters.at("priority")) == 3);
  BOOST_TEST(std::get<std::int64_t>(second->parameters.at("timeout")) == 5000);
  BOOST_TEST(elements_of<float>(first->inputs.at(0).value.data)[1] == 2.5F);
  BOOST_TEST(std::get<bool>(second->parameters.at("sequence_start")));
  BOOST_TEST(second->outputs.at(0).name == "y");
  BOOST_TEST((wide->inputs.at(0).value.dims == shape{3, 2}));

  using perms = fs::perms;
  BOOST_TEST((fs::status(requests()).permissions() == (perms::owner_read | perms::owner_write)));
}

BOOST_AUTO_TEST_CASE(are_not_there_unless_asked_for) {
  {
    actor_fixture world;
    world.parts.recorder = open(world.clock, {});
    world.start(latency, 16);
    world.infer("first");
    while (world.work_once()) {
    }
  }
  BOOST_TEST(!records<capture::header>().at(0).payloads);
  BOOST_TEST(!fs::exists(requests()));
  BOOST_TEST(records<capture::ask>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(that_do_not_fit_are_left_out_and_counted) {
  const auto clock = std::make_shared<steady_clock_source>();
  {
    const auto recorder = open(clock, payload_bounds{.waiting_bytes = 1000});
    recorder->keep(1, of_bytes(2000));                   // more than may wait
    recorder->keep(std::uint64_t{1} << 32, of_bytes(1)); // no id for it
    recorder->keep(2, of_bytes(100));
    recorder->keep(3, of_bytes(2000));
  }
  const auto read = kept();
  BOOST_REQUIRE(read.entries().size() == 1u);
  BOOST_TEST(read.entries()[0].id == 2u);
  const auto lost = records<capture::payloads_lost>();
  BOOST_REQUIRE(lost.size() == 2u);
  BOOST_TEST(lost[0].requests == 2u);
  BOOST_TEST(lost[1].requests == 1u);

  {
    const auto recorder = open(clock, payload_bounds{.file_bytes = 1500});
    for (std::uint64_t number = 1; number <= 5; ++number)
      recorder->keep(number, of_bytes(400));
  }
  BOOST_TEST(kept().entries().size() == 3u);
  BOOST_TEST(fs::file_size(requests()) <= 1500u);
  BOOST_TEST(records<capture::payloads_lost>().at(0).requests == 2u);
}

BOOST_AUTO_TEST_CASE(share_their_tensors_with_whoever_owns_them) {
  const auto clock = std::make_shared<steady_clock_source>();
  auto request = of_bytes(64);
  const std::weak_ptr<const void> owner = request.inputs[0].value.data.owner;
  auto borrowed = of_bytes(8);
  {
    const auto recorder = open(clock, payload_bounds{});
    recorder->keep(1, std::move(request));
    std::vector<std::byte> block(8, std::byte{9});
    borrowed.inputs[0].value.data = {nullptr, block};
    recorder->keep(2, borrowed);
    std::fill(block.begin(), block.end(), std::byte{0}); // nobody said that it would stay
  }
  BOOST_TEST(owner.expired());
  auto read = kept();
  const auto second = read.load(read.entries().at(1));
  BOOST_REQUIRE(second);
  BOOST_TEST((second->inputs.at(0).value.data.view[7] == std::byte{9}));
}

BOOST_AUTO_TEST_CASE(stay_whole_on_a_disk_that_is_full) {
  const auto frame_of = [](std::uint32_t id) {
    return protocol::rpc::encode_infer_request(id, of_bytes(600));
  };
  auto made = payload_file::create(requests());
  BOOST_REQUIRE(made);
  rlimit before{};
  BOOST_REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto signal = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  BOOST_REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto first = (*made)->append(std::vector{frame_of(1)});
  const auto second = (*made)->append(std::vector{frame_of(2)});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signal);
  BOOST_TEST(first.has_value());
  BOOST_TEST(!second.has_value());
  const auto read = kept();
  BOOST_TEST(read.entries().size() == 1u);
  BOOST_TEST(read.cut_off() == 0u);
}

BOOST_AUTO_TEST_CASE(are_written_to_no_link_and_need_a_capture) {
  fs::create_symlink("/nowhere", requests());
  const auto linked = payload_file::create(requests());
  BOOST_REQUIRE(!linked);
  BOOST_TEST((linked.error().code == errc::invalid_argument));
  options with;
  with.devices = {"sim"};
  with.capture_payloads = true;
  const auto started = runtime::start(with);
  BOOST_REQUIRE(!started);
  BOOST_TEST(started.error().text.find("capture_file") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
