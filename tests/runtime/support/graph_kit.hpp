#pragma once

#include "kernels/device/device.hpp"
#include "runtime/graph/dim_math.hpp"
#include "runtime/graph/graph.hpp"

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe::test {

using constant_ptr = std::shared_ptr<const tensor>;

constant_ptr floats(shape dims, std::vector<float> content);
constant_ptr integers(shape dims, std::vector<std::int64_t> content);
/// Seeded numbers in [-1, 1).
constant_ptr noise(shape dims, unsigned seed);
std::vector<float> floats_in(const tensor& content);

/// Builds graphs line by line; values are named after the nodes that make them.
class graph_kit {
public:
  graph::graph made;

  /// A dim of 0 stands for the symbol `n`, -1 for a fresh unknown.
  graph::value_id input(const std::string& name, std::vector<std::int64_t> dims,
                        dtype type = dtype::float32);
  graph::value_id constant(constant_ptr content);
  graph::value_id scalar(float number);
  /// A node with one output, of the default domain.
  graph::value_id node(const std::string& op_type, std::vector<graph::value_id> inputs,
                       attribute_map attributes = {}, int version = 17);
  void output(graph::value_id of) { made.outputs.push_back(of); }

  graph::dim n = made.fresh_dim("n");

private:
  int count_ = 0;
};

attribute_map with(std::string name, attribute value);
attribute_map with(std::initializer_list<std::pair<std::string, attribute>> attributes);
attribute ints(std::vector<std::int64_t> values);

/// Runs every node in turn on the device; the first failure as it is.
result<std::vector<constant_ptr>> interpret(const graph::graph& of,
                                            std::vector<constant_ptr> inputs, device& on);

/// The dims of the kit's last node ("?" where not even the rank is known), or the text of the
/// error.
std::string inferred(graph_kit& kit);
/// Whether row i of the last node's output follows from row i of the inputs alone.
bool rows_stay_apart(graph_kit& kit);

/// "Conv+relu+add MatMul": the nodes in order with their post-ops.
std::string outline(const graph::graph& of);

/// The largest difference of two float32 tensors; infinite if their dims differ.
double difference(const tensor& left, const tensor& right);

} // namespace troupe::test
