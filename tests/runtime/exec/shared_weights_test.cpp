// One model on several devices of one memory: weights are packed once, whatever their number.

#include "kernels/sim/sim_device.hpp"
#include "runtime/exec/model.hpp"
#include "runtime/onnx/onnx.pb.h"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace troupe;

namespace {

/// A simulated device that packs every weight of a node, as an accelerator would, and counts.
class packing_device final : public device {
public:
  explicit packing_device(std::shared_ptr<int> packs) : packs_{std::move(packs)} {}

  const device_properties& properties() const noexcept override { return inner_->properties(); }
  result<std::unique_ptr<buffer>> allocate(std::size_t bytes) override {
    return inner_->allocate(bytes);
  }
  result<std::unique_ptr<stream>> open_stream(stream_mode mode) override {
    return inner_->open_stream(mode);
  }
  layout_rule layouts(const kernel_spec& spec) const override { return inner_->layouts(spec); }

  result<kernel_choice> choose_kernel(const kernel_spec& spec, weight_cache& weights) override {
    for (const auto& input : spec.inputs) {
      if (!input.constant)
        continue;
      const auto& data = input.constant->data;
      auto packed = weights.find_or_pack(input.constant, "packed", data.size(),
                                         [&](std::span<std::byte> to) -> result<void> {
                                           ++*packs_;
                                           std::memcpy(to.data(), data.data(), data.size());
                                           return {};
                                         });
      if (!packed)
        return propagate(packed);
    }
    return inner_->choose_kernel(spec, weights);
  }

private:
  std::shared_ptr<device> inner_ = sim::make_sim_device();
  std::shared_ptr<int> packs_;
};

void describe(onnx::ValueInfoProto& value, const std::string& name) {
  value.set_name(name);
  auto* tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(1);
  tensor->mutable_shape()->add_dim()->set_dim_param("batch");
  tensor->mutable_shape()->add_dim()->set_dim_value(2);
}

/// y = x * w, with w of two rows and columns.
struct product_file {
  product_file() {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(13);
    auto& graph = *model.mutable_graph();
    graph.set_name("product");
    describe(*graph.add_input(), "x");
    describe(*graph.add_output(), "y");
    auto& weight = *graph.add_initializer();
    weight.set_name("w");
    weight.set_data_type(1);
    for (const float value : {1.0f, 2.0f, 3.0f, 4.0f})
      weight.add_float_data(value);
    weight.add_dims(2);
    weight.add_dims(2);
    auto& node = *graph.add_node();
    node.set_op_type("MatMul");
    node.add_input("x");
    node.add_input("w");
    node.add_output("y");
    std::ofstream out{path, std::ios::binary};
    model.SerializeToOstream(&out);
  }
  ~product_file() { std::filesystem::remove(path); }

  std::filesystem::path path = std::filesystem::temp_directory_path()
                               / fmt::format("troupe_shared_weights_{}.onnx", getpid());
};

} // namespace

BOOST_AUTO_TEST_SUITE(shared_weights)

BOOST_AUTO_TEST_CASE(are_packed_once_for_all_devices_of_a_memory_and_all_shapes) {
  const product_file file;
  const auto packs = std::make_shared<int>(0);
  const auto first = exec::model::load(file.path, std::make_shared<packing_device>(packs)).value();
  std::vector<std::shared_ptr<exec::model>> all{first};
  for (int i = 0; i < 3; ++i)
    all.push_back(exec::model::beside(*first, std::make_shared<packing_device>(packs)).value());
  for (const auto& one : all)
    for (const std::int64_t rows : {1, 4})
      BOOST_REQUIRE(one->make_plan(std::array{shape{rows, 2}}));
  BOOST_TEST(*packs == 1);
  for (const auto& one : all)
    BOOST_TEST(one->weight_bytes() == first->weight_bytes());
  BOOST_TEST(first->weight_bytes() >= 16u);
}

BOOST_AUTO_TEST_CASE(outlive_the_model_that_packed_them) {
  const product_file file;
  const auto packs = std::make_shared<int>(0);
  auto first = exec::model::load(file.path, std::make_shared<packing_device>(packs)).value();
  BOOST_REQUIRE(first->make_plan(std::array{shape{1, 2}}));
  const auto other = exec::model::beside(*first, std::make_shared<packing_device>(packs)).value();
  first.reset();
  BOOST_REQUIRE(other->make_plan(std::array{shape{2, 2}}));
  BOOST_TEST(*packs == 1);
}

BOOST_AUTO_TEST_SUITE_END()
