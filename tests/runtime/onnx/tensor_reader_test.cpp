#include "kernels/tensor/half.hpp"
#include "runtime/onnx/import.hpp"
#include "tests/runtime/onnx/model_kit.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <limits>

using namespace troupe;
using namespace troupe::test;
using onnx::TensorProto;

namespace {

// The content of the model's one initializer `w`.
std::shared_ptr<const tensor> content_of(const onnx::ModelProto& model) {
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  const auto* found = find_value(*made, "w");
  BOOST_REQUIRE(found != nullptr);
  return found->constant;
}

template <class T>
T first(const tensor& from) {
  return elements_of<T>(from.data).front();
}

} // namespace

BOOST_AUTO_TEST_CASE(each_type_is_read_from_its_own_field) {
  const auto in_int32 = [](std::int32_t type, std::int32_t bits) {
    auto model = relu_model();
    add_initializer(model, "w", type, {1})->add_int32_data(bits);
    return content_of(model);
  };
  BOOST_TEST(first<std::int8_t>(*in_int32(TensorProto::INT8, -3)) == -3);
  BOOST_TEST(first<std::uint8_t>(*in_int32(TensorProto::UINT8, 250)) == 250);
  BOOST_TEST(first<std::int16_t>(*in_int32(TensorProto::INT16, -300)) == -300);
  BOOST_TEST(first<std::uint16_t>(*in_int32(TensorProto::UINT16, 60000)) == 60000);
  BOOST_TEST(first<std::int32_t>(*in_int32(TensorProto::INT32, -70000)) == -70000);
  BOOST_TEST(first<std::uint8_t>(*in_int32(TensorProto::BOOL, 1)) == 1);
  BOOST_TEST(static_cast<float>(first<half>(*in_int32(TensorProto::FLOAT16, 0x3e00))) == 1.5F);
  BOOST_TEST(static_cast<float>(first<bfloat16>(*in_int32(TensorProto::BFLOAT16, 0x3fc0))) == 1.5F);

  auto model = relu_model();
  auto* stored = add_initializer(model, "w", TensorProto::INT64, {1});
  stored->add_int64_data(std::numeric_limits<std::int64_t>::min());
  BOOST_TEST(first<std::int64_t>(*content_of(model)) == std::numeric_limits<std::int64_t>::min());
  stored->Clear();
  stored->set_name("w");
  stored->set_data_type(TensorProto::DOUBLE);
  stored->add_dims(1);
  stored->add_double_data(0.1);
  BOOST_TEST(first<double>(*content_of(model)) == 0.1);
  stored->set_data_type(TensorProto::UINT64);
  stored->add_uint64_data(std::numeric_limits<std::uint64_t>::max());
  BOOST_TEST(first<std::uint64_t>(*content_of(model)) == std::numeric_limits<std::uint64_t>::max());
  stored->set_data_type(TensorProto::STRING);
  stored->add_string_data("abc");
  const auto text = content_of(model);
  BOOST_TEST(text->data.size() == 7U); // length, then bytes
  BOOST_TEST(first<std::uint32_t>(*text) == 3U);
}

BOOST_AUTO_TEST_CASE(raw_data_is_read_into_an_aligned_block) {
  auto model = relu_model();
  const float numbers[]{1.0F, -2.0F, 3.5F};
  set_raw_data(*add_initializer(model, "w", TensorProto::FLOAT, {3}),
               {reinterpret_cast<const char*>(numbers), sizeof numbers});
  const auto content = content_of(model);
  BOOST_TEST(std::memcmp(content->data.data(), numbers, sizeof numbers) == 0);
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(content->data.data()) % tensor_alignment == 0U);
}

BOOST_AUTO_TEST_CASE(a_weight_that_lies_aligned_in_memory_is_not_copied) {
  const auto whole = [](const std::string& producer) {
    auto model = relu_model();
    model.set_producer_name(producer);
    set_raw_data(*add_initializer(model, "w", TensorProto::FLOAT, {64}), std::string(256, '\x3f'));
    return model.SerializeAsString();
  };
  bool seen = false;
  for (std::size_t shift = 1; shift <= tensor_alignment; ++shift) { // one shift aligns the payload
    const auto model = whole(std::string(shift, 'p'));
    const auto bytes = copy_of(std::as_bytes(std::span{model}));
    const auto made = onnx::import_bytes(bytes);
    BOOST_REQUIRE(made.has_value());
    const auto* data = find_value(*made, "w")->constant->data.data();
    seen = seen || (data > bytes.data() && data < bytes.data() + bytes.size());
  }
  BOOST_TEST(seen);
}

BOOST_AUTO_TEST_CASE(sizes_that_do_not_fit_the_data_are_refused) {
  auto raw = relu_model();
  set_raw_data(*add_initializer(raw, "w", TensorProto::FLOAT, {4}), std::string(12, 'x'));
  BOOST_TEST(fails(raw, errc::invalid_argument, {"'w'", "16 bytes", "raw_data has 12"}));

  auto typed = relu_model();
  add_initializer(typed, "w", TensorProto::FLOAT, {4})->add_float_data(1);
  BOOST_TEST(fails(typed, errc::invalid_argument, {"'w'", "4 elements", "has 1"}));

  auto huge = relu_model();
  add_initializer(
      huge, "w", TensorProto::FLOAT,
      {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()});
  BOOST_TEST(fails(huge, errc::invalid_argument, {"'w'", "too many elements"}));

  auto negative = relu_model();
  add_initializer(negative, "w", TensorProto::FLOAT, {-4});
  BOOST_TEST(fails(negative, errc::invalid_argument, {"'w'", "negative size"}));

  auto type = relu_model();
  add_initializer(type, "w", TensorProto::COMPLEX64, {1});
  BOOST_TEST(fails(type, errc::unimplemented, {"'w'", "COMPLEX64"}));

  auto truth = relu_model();
  set_raw_data(*add_initializer(truth, "w", TensorProto::BOOL, {1}), "\x07");
  BOOST_TEST(fails(truth, errc::invalid_argument, {"'w'", "BOOL"}));
}

BOOST_AUTO_TEST_CASE(a_file_cannot_claim_payload_places_itself) {
  auto model = relu_model();
  auto* stored = add_initializer(model, "w", TensorProto::FLOAT, {1});
  stored->set_payload_offset(0);
  stored->set_payload_size(4);
  BOOST_TEST(fails(model, errc::invalid_argument, {"'w'", "1 elements", "has 0"}));
}

namespace {

onnx::ModelProto external_model(const std::string& location, const std::string& length = "8") {
  auto model = relu_model();
  auto* stored = add_initializer(model, "w", TensorProto::FLOAT, {2});
  stored->set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                   {"offset", "4"},
                                   {"length", length}}) {
    auto* entry = stored->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return model;
}

} // namespace

BOOST_AUTO_TEST_CASE(external_data_is_read_from_a_file_beside_the_model) {
  const scratch_directory scratch;
  const float numbers[]{0.0F, 1.0F, 2.0F};
  scratch.write("w.bin", {reinterpret_cast<const char*>(numbers), sizeof numbers});
  const auto made =
      onnx::import_file(scratch.write("m.onnx", external_model("w.bin").SerializeAsString()));
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(elements_of<float>(find_value(*made, "w")->constant->data)[1] == 2.0F);
}

BOOST_AUTO_TEST_CASE(external_data_elsewhere_is_refused) {
  const scratch_directory outside;
  outside.write("w.bin", std::string(12, 'x'));
  const scratch_directory scratch;
  scratch.write("w.bin", std::string(12, 'x'));
  std::filesystem::create_symlink(outside.path / "w.bin", scratch.path / "link.bin");
  std::filesystem::create_directory(scratch.path / "folder");
  const auto refused = [&](const std::string& location, const std::string& why,
                           errc code = errc::invalid_argument) {
    return fails(external_model(location), code, {"'w'", why}, scratch.path);
  };
  BOOST_TEST(refused("../w.bin", "not a path below"));
  BOOST_TEST(refused("folder/../../w.bin", "not a path below"));
  BOOST_TEST(refused((outside.path / "w.bin").string(), "not a path below"));
  BOOST_TEST(refused("", "not a path below"));
  BOOST_TEST(refused("link.bin", "leads out"));
  BOOST_TEST(refused("folder", "not a regular file"));
  BOOST_TEST(refused("none.bin", "cannot find", errc::not_found));
  BOOST_TEST(
      fails(external_model("w.bin", "4"), errc::invalid_argument, {"length 4"}, scratch.path));
  BOOST_TEST(fails(external_model("w.bin", "x"), errc::invalid_argument, {"number"}, scratch.path));
  BOOST_TEST(
      fails(external_model("w.bin"), errc::invalid_argument, {"needs a model that is a file"}));
  scratch.write("w.bin", std::string(8, 'x'));
  BOOST_TEST(
      fails(external_model("w.bin"), errc::invalid_argument, {"ends at byte 8"}, scratch.path));
}

BOOST_AUTO_TEST_CASE(links_to_external_data_are_followed_where_they_end_in_the_repository) {
  const scratch_directory root;
  namespace fs = std::filesystem;
  fs::create_directories(root.path / "contents");
  fs::create_directories(root.path / "models/m/1");
  const float numbers[]{0.0F, 1.0F, 2.0F};
  const std::string bytes{reinterpret_cast<const char*>(numbers), sizeof numbers};
  root.write("contents/data", bytes);
  root.write("models/m/1/model.onnx", external_model("w.bin").SerializeAsString());
  fs::create_symlink("../../../contents/data", root.path / "models/m/1/w.bin");
  const auto model = root.path / "models/m/1/model.onnx";
  const auto apart = onnx::import_file(model, root.path / "models");
  BOOST_REQUIRE(!apart.has_value());
  BOOST_TEST(apart.error().text.find("leads out") != std::string::npos);
  BOOST_TEST(onnx::import_file(model, root.path).has_value());

  // A store of contents: the model is a link too, and its data lie where it really lies.
  fs::rename(model, root.path / "contents/model");
  fs::create_symlink("../../../contents/model", model);
  BOOST_TEST(onnx::import_file(model).has_value());
  fs::remove(root.path / "models/m/1/w.bin");
  BOOST_TEST(!onnx::import_file(model).has_value());
  fs::rename(root.path / "contents/data", root.path / "contents/w.bin");
  BOOST_TEST(onnx::import_file(model).has_value());
}

BOOST_AUTO_TEST_CASE(external_data_may_lie_beyond_four_gigabytes_and_must_lie_within_the_file) {
  const scratch_directory scratch;
  auto model = external_model("w.bin");
  auto* offset = model.mutable_graph()->mutable_initializer(0)->mutable_external_data(1);
  offset->set_value("5368709120");
  const auto file = scratch.write("w.bin", "");
  std::filesystem::resize_file(file, 5368709120 + 8); // sparse
  BOOST_TEST(import(model, scratch.path).has_value());
  std::filesystem::resize_file(file, 5368709120 + 7);
  BOOST_TEST(
      fails(model, errc::invalid_argument, {"'w'", "ends at byte 5368709127"}, scratch.path));
  offset->set_value("18446744073709551615");
  BOOST_TEST(fails(model, errc::invalid_argument, {"'w'", "ends at byte"}, scratch.path));
  offset->set_value("-1");
  BOOST_TEST(fails(model, errc::invalid_argument, {"'w'", "offset", "not a number"}, scratch.path));
}
