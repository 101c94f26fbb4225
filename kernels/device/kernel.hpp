#pragma once

#include "kernels/base/result.hpp"
#include "kernels/op/attributes.hpp"
#include "kernels/op/post_op.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class stream;

/// An input as the planner knows it. `constant` is set for initializers: the kernel may read and
/// pack it when it is made; at launch it is passed row-major like any other input.
struct operand {
  bool present = false; ///< an optional input left out is not present
  tensor_desc desc;
  std::shared_ptr<const tensor> constant;
};

/// One node with everything that is known when its kernel is chosen. Only valid during the call.
struct kernel_spec {
  std::string_view domain; ///< "" is ONNX's default domain
  std::string_view op_type;
  int version = 0; ///< opset version the node was written for
  const attribute_map* attributes = nullptr;
  std::span<const operand> inputs; ///< the operator's own, then those of post-ops
  std::span<const tensor_desc> outputs;
  std::span<const bool> outputs_wanted; ///< an optional output nobody reads is not written
  std::span<const post_op> post_ops;
  int threads = 1;           ///< size of the thread team that will run it
  std::string_view prefer{}; ///< candidate to try before the others, as `candidates` names it
};

/// Where a launch finds its tensors. Absent inputs and unwanted outputs have null data.
struct kernel_args {
  std::span<const tensor_view> inputs;
  std::span<const tensor_view> outputs;
  std::span<std::byte> workspace; ///< `workspace_bytes()`, aligned to 64; content undefined
};

/// One node made ready for one set of shapes on one device. Immutable: any number of run states may
/// launch it at the same time, each with its own arguments.
class kernel {
public:
  virtual ~kernel() = default;

  /// Which candidate this is, such as "onednn:jit:avx512_core" or "reference".
  [[nodiscard]] virtual std::string name() const = 0;

  /// Scratch memory a launch needs, in bytes; part of the memory plan.
  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept { return 0; }

  /// Whether output 0 may lie in the memory of this input (same bytes, row order kept). When the
  /// same tensor is passed at several inputs, only if it may at each of them.
  [[nodiscard]] virtual bool can_overwrite(std::size_t /*input*/) const noexcept { return false; }

  /// Whether input `index` is read at launch; a packed weight is not, and then may be released.
  [[nodiscard]] virtual bool reads(std::size_t /*index*/) const noexcept { return true; }

  /// Puts the work on the stream. Asynchronous where the device is; on the CPU it is complete when
  /// the call returns. Fails on data a shape does not exclude, such as an index out of range.
  [[nodiscard]] virtual result<void> launch(stream& on, const kernel_args& args) const = 0;
};

/// A candidate that was not taken, and why.
struct declined_candidate {
  std::string name;
  std::string reason;
};

/// What the ordered candidate table answered for a node.
struct kernel_choice {
  std::shared_ptr<const kernel> chosen;
  std::string candidate;                    ///< its name in the table
  std::vector<declined_candidate> declined; ///< those tried before, in table order
};

/// Which memory layouts an operator works on, asked before kernels are made.
enum class layout_rule : std::uint8_t {
  row_major_only,        ///< needs its axes as written
  prefers_channels_last, ///< faster when activations are channels_last
  follows,               ///< indifferent: output has the layout of its inputs, which must agree
};

} // namespace troupe
