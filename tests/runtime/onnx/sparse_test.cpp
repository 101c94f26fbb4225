#include "tests/runtime/onnx/model_kit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

// w of these dims with 5 and 6 at `indices`, added to x.
onnx::ModelProto sparse_model(const std::vector<std::int64_t>& dims,
                              const std::vector<std::int64_t>& shape_of_indices,
                              const std::vector<std::int64_t>& indices) {
  auto model = empty_model();
  add_input(model, "x", {"2", "3"});
  auto* sparse = model.mutable_graph()->add_sparse_initializer();
  auto* values = sparse->mutable_values();
  values->set_name("w");
  values->set_data_type(onnx::TensorProto::FLOAT);
  values->add_dims(2);
  values->add_float_data(5);
  values->add_float_data(6);
  sparse->mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  for (auto size : shape_of_indices)
    sparse->mutable_indices()->add_dims(size);
  for (auto index : indices)
    sparse->mutable_indices()->add_int64_data(index);
  for (auto size : dims)
    sparse->add_dims(size);
  add_node(model, "Add", {"x", "w"}, {"y"});
  add_output(model, "y");
  return model;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_sparse_initializer_is_the_dense_one_it_stands_for) {
  const std::vector<float> expected{0, 5, 0, 0, 0, 6};
  for (const auto& model :
       {sparse_model({2, 3}, {2}, {1, 5}), sparse_model({2, 3}, {2, 2}, {0, 1, 1, 2})}) {
    const auto made = import(model);
    BOOST_REQUIRE(made.has_value());
    const auto* dense = find_value(*made, "w");
    BOOST_REQUIRE((dense != nullptr && dense->constant));
    BOOST_TEST((dense->constant->dims == shape{2, 3}));
    const auto found = elements_of<float>(dense->constant->data);
    BOOST_TEST((std::vector<float>{found.begin(), found.end()} == expected));
  }
}

BOOST_AUTO_TEST_CASE(a_constant_may_be_sparse) {
  auto model = sparse_model({2, 3}, {2}, {0, 2});
  auto* graph = model.mutable_graph();
  auto* node = graph->mutable_node(0);
  node->set_op_type("Constant");
  node->clear_input();
  auto* value = node->add_attribute();
  value->set_name("sparse_value");
  value->set_type(onnx::AttributeProto::SPARSE_TENSOR);
  *value->mutable_sparse_tensor() = graph->sparse_initializer(0);
  const auto made = import(model);
  BOOST_REQUIRE(made.has_value());
  const auto* dense = find_value(*made, "y");
  BOOST_REQUIRE((dense != nullptr && dense->constant));
  BOOST_TEST(elements_of<float>(dense->constant->data)[2] == 6);
}

BOOST_AUTO_TEST_CASE(a_sparse_initializer_cannot_claim_or_point_where_it_likes) {
  const auto bad = errc::invalid_argument;
  BOOST_TEST(fails(sparse_model({2, 3}, {2}, {1, 6}), bad, {"'w'", "6 elements", "6 found"}));
  BOOST_TEST(fails(sparse_model({2, 3}, {2}, {1, 1}), bad, {"'w'", "ascending order"}));
  BOOST_TEST(fails(sparse_model({2, 3}, {2}, {-1, 1}), bad, {"'w'", "-1 found"}));
  BOOST_TEST(fails(sparse_model({2, 3}, {2, 2}, {0, 0, 0, 3}), bad, {"'w'", "[0, 3)", "3 found"}));
  BOOST_TEST(fails(sparse_model({2, 3}, {1}, {0}), bad, {"'w'", "[2] or [2,2] expected"}));
  const std::int64_t huge = std::int64_t{1} << 30;
  BOOST_TEST(fails(sparse_model({huge, huge, 0}, {2}, {0, 1}), bad, {"'w'", "no values expected"}));
  BOOST_TEST(fails(sparse_model({huge}, {2}, {0, 1}), errc::resource_exhausted,
                   {"'w'", "268435456 bytes"}));
}
