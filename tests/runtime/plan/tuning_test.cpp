#include "runtime/plan/tuning.hpp"

#include "fake_device.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <unistd.h>

using namespace troupe;

namespace {

namespace fs = std::filesystem;

/// Writes one element, after as many additions as it is told; or fails.
class slow_kernel final : public kernel {
public:
  slow_kernel(int additions, int& launches) : additions_{additions}, launches_{launches} {}
  std::string name() const override { return "slow"; }
  result<void> launch(stream&, const kernel_args& args) const override {
    ++launches_;
    if (additions_ == 0)
      return fail(errc::internal, "cannot");
    volatile float sum = 0;
    for (int index = 0; index < additions_; ++index)
      sum = sum + 1;
    *args.outputs[0].as<float>() = sum;
    return {};
  }

private:
  int additions_;
  int& launches_;
};

/// Candidates, first to last: one that declines, one that fails, a slow one, a fast one.
class choosing_device final : public test::fake_device {
public:
  explicit choosing_device(std::string model) { mine_.model = std::move(model); }
  int launches = 0;

  const device_properties& properties() const noexcept override { return mine_; }
  std::vector<std::string> candidates(const kernel_spec&) const override {
    return {"choosy", "broken", "slow", "fast"};
  }
  result<kernel_choice> choose_kernel(const kernel_spec& of, weight_cache&) override {
    if (of.prefer == "broken")
      return kernel_choice{std::make_shared<slow_kernel>(0, launches), "broken", {}};
    const bool fast = of.prefer == "fast";
    return kernel_choice{
        std::make_shared<slow_kernel>(fast ? 1 : 2'000'000, launches), fast ? "fast" : "slow", {}};
  }

private:
  device_properties mine_{.name = "fake", .kind = "fake"};
};

struct table_file {
  fs::path path = fs::temp_directory_path() / fmt::format("troupe_tuning_{}.json", ::getpid());
  table_file() { fs::remove(path); }
  ~table_file() { fs::remove(path); }
};

struct one_node {
  attribute_map attributes;
  operand input{true, {dtype::float32, {4}}, nullptr};
  tensor_desc output{dtype::float32, {4}};

  kernel_spec spec() const {
    return {.domain = "",
            .op_type = "Relu",
            .version = 14,
            .attributes = &attributes,
            .inputs = {&input, 1},
            .outputs = {&output, 1},
            .outputs_wanted = {},
            .post_ops = {},
            .threads = 1};
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(tuning_tables, table_file)

BOOST_AUTO_TEST_CASE(the_fastest_candidate_is_measured_once_and_remembered) {
  choosing_device on{"a"};
  const one_node node;
  auto tuned = plan::tuning::open(path, on);
  BOOST_REQUIRE(tuned);
  BOOST_TEST((*tuned)->candidate_for(node.spec(), on) == "fast");
  const auto measured = on.launches;
  BOOST_TEST(measured > 2);
  BOOST_TEST((*tuned)->candidate_for(node.spec(), on) == "fast");
  BOOST_TEST(on.launches == measured);
  BOOST_REQUIRE((*tuned)->save());

  auto later = plan::tuning::open(path, on);
  BOOST_REQUIRE(later);
  BOOST_TEST((*later)->candidate_for(node.spec(), on) == "fast");
  BOOST_TEST(on.launches == measured);
}

BOOST_AUTO_TEST_CASE(other_shapes_and_attributes_are_measured_apart) {
  choosing_device on{"a"};
  one_node node;
  auto tuned = plan::tuning::open(path, on);
  BOOST_REQUIRE(tuned);
  (void)(*tuned)->candidate_for(node.spec(), on);
  node.output.dims = {5};
  (void)(*tuned)->candidate_for(node.spec(), on);
  node.attributes.set("alpha", 1.0F);
  (void)(*tuned)->candidate_for(node.spec(), on);
  BOOST_TEST((*tuned)->size() == 3u);
}

BOOST_AUTO_TEST_CASE(what_was_measured_on_another_device_does_not_count) {
  choosing_device on{"a"};
  choosing_device other{"b"};
  const one_node node;
  auto tuned = plan::tuning::open(path, on);
  BOOST_REQUIRE(tuned);
  (void)(*tuned)->candidate_for(node.spec(), on);
  BOOST_REQUIRE((*tuned)->save());
  auto later = plan::tuning::open(path, other);
  BOOST_REQUIRE(later);
  BOOST_TEST((*later)->size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_table_is_refused) {
  std::ofstream{path} << "[1, 2";
  const choosing_device on{"a"};
  const auto tuned = plan::tuning::open(path, on);
  BOOST_REQUIRE(!tuned);
  BOOST_TEST((tuned.error().code == errc::invalid_argument));
  BOOST_TEST(tuned.error().text.find("expected a table of choices") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_table_that_cannot_be_written_says_so) {
  choosing_device on{"a"};
  const one_node node;
  auto tuned = plan::tuning::open(path / "nowhere" / "table.json", on);
  BOOST_REQUIRE(tuned);
  (void)(*tuned)->candidate_for(node.spec(), on);
  const auto saved = (*tuned)->save();
  BOOST_REQUIRE(!saved);
  BOOST_TEST(saved.error().text.find("cannot be written") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
