#pragma once

// What every kernel on oneDNN shares. This header and onednn.cpp hold all that differs between
// oneDNN's major versions; only the onednn files of kernels/cpu include it.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/placement.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace troupe::cpu::onednn {

using memory_desc = dnnl::memory::desc;
using format = dnnl::memory::format_tag;
template <class T>
using attempted = tl::expected<T, std::string>;

/// The CPU engine of this process. The first call caps the instruction set as TROUPE_MAX_ISA says
/// and switches oneDNN's own cache of primitives off: a kernel holds its primitive itself.
[[nodiscard]] const dnnl::engine& cpu_engine();

/// Calls `make`, turning what oneDNN throws into the reason to decline: it throws for every
/// combination it does not offer, and a candidate has to go on with the next.
template <class Make>
[[nodiscard]] auto attempt(const Make& make) -> attempted<decltype(make())> {
  try {
    return make();
  } catch (const dnnl::error& refused) {
    return tl::unexpected<std::string>{std::string{"oneDNN: "} + refused.what()};
  }
}

/// A float32 memory of `dims`, dense in `order`.
[[nodiscard]] memory_desc dense(const dnnl::memory::dims& dims, format order);
/// A float32 memory with explicit strides, in elements.
[[nodiscard]] memory_desc strided(const dnnl::memory::dims& dims,
                                  const dnnl::memory::dims& strides);

/// Where one argument of a primitive comes from when a kernel is launched.
struct binding {
  enum class source : std::uint8_t { input, output, workspace, constant };

  int argument = 0; ///< DNNL_ARG_…
  memory_desc desc;
  source from = source::input;
  std::size_t index = 0;   ///< of the input or output
  shared_bytes constant{}; ///< for `constant`: kept alive here
};

/// A primitive with its memory objects. oneDNN's memory objects carry the address, so one set
/// serves one run at a time: a set waits in a slot for the next run, and is made anew only while
/// another thread is using it. Safe to run from any number of threads at once.
class bound_primitive {
public:
  bound_primitive(dnnl::primitive primitive, const std::vector<binding>& arguments);
  ~bound_primitive();
  bound_primitive(const bound_primitive&) = delete;
  bound_primitive& operator=(const bound_primitive&) = delete;

  /// `addresses` in the order of the arguments.
  [[nodiscard]] result<void> run(std::span<void* const> addresses) const;

private:
  struct argument_set;
  std::unique_ptr<argument_set> make_set() const;

  dnnl::primitive primitive_;
  std::vector<std::pair<int, memory_desc>> arguments_;
  mutable std::atomic<argument_set*> spare_ = nullptr;
};

/// Attributes of a primitive with post-ops, and the operands those read.
struct fused_post_ops {
  dnnl::primitive_attr attributes;
  std::vector<binding> operands;
};

/// How a post-op's operand of the given description lies beside the primitive's destination.
using place_operand = attempted<memory_desc> (*)(const tensor_desc& operand,
                                                 const tensor_desc& output,
                                                 const memory_desc& destination);

/// A tensor of the output's shape and layout lies as the destination does; one value per channel
/// (axis 1 of output and destination) or a single value is broadcast. Anything else is declined.
[[nodiscard]] attempted<memory_desc> beside_channels(const tensor_desc& operand,
                                                     const tensor_desc& output,
                                                     const memory_desc& destination);
/// The same with one value per column, the last axis.
[[nodiscard]] attempted<memory_desc> beside_columns(const tensor_desc& operand,
                                                    const tensor_desc& output,
                                                    const memory_desc& destination);

/// Translates the post-ops of `spec` behind those already in `steps`; the reason when one has no
/// equivalent. The scratchpad is the caller's.
[[nodiscard]] attempted<fused_post_ops> fuse(const kernel_spec& spec, dnnl::post_ops steps,
                                             const memory_desc& destination, place_operand place);
void append_linear(dnnl::post_ops& steps, float scale, float shift);

/// Names of a primitive's implementation, such as "brgconv:avx512_core".
[[nodiscard]] bool is_reference(std::string_view implementation) noexcept;
[[nodiscard]] bool is_gemm(std::string_view implementation) noexcept;

/// The layout `weight` was first packed in for oneDNN, if it has the sizes of `wanted`: a primitive
/// for another shape asks for this one first.
[[nodiscard]] std::optional<memory_desc>
pinned_layout(const weight_cache& weights, const tensor* weight, const memory_desc& wanted);

/// `weight`, which lies as `plain`, in the layout `packed`.
[[nodiscard]] attempted<shared_bytes> pack(weight_cache& weights,
                                           const std::shared_ptr<const tensor>& weight,
                                           const memory_desc& plain, const memory_desc& packed);

/// A kernel that is one primitive.
[[nodiscard]] std::shared_ptr<const kernel> make_primitive_kernel(std::string implementation,
                                                                  dnnl::primitive primitive,
                                                                  std::vector<binding> arguments);

} // namespace troupe::cpu::onednn
