#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Weights in the form a kernel wants: made once, shared by every plan of a memory domain. A form
/// is an opaque description of the packed layout, chosen by the kernel. Thread-safe.
class weight_cache {
public:
  using fill = std::function<result<void>(std::span<std::byte>)>;

  /// The packed block of `weight` in `form`, of `bytes` bytes; on a miss allocates it and calls
  /// `pack`. Keeps `weight` alive as long as the entry, so that its address stays its identity.
  [[nodiscard]] result<shared_bytes> find_or_pack(const std::shared_ptr<const tensor>& weight,
                                                  std::string_view form, std::size_t bytes,
                                                  const fill& pack);

  /// The form `weight` was first packed in: a kernel for another shape should reuse it.
  [[nodiscard]] std::optional<std::string> pinned_form(const tensor* weight) const;

  /// Bytes held in packed form.
  [[nodiscard]] std::size_t bytes() const noexcept;

private:
  struct entry {
    std::string form;
    shared_bytes packed;
  };
  struct forms {
    std::shared_ptr<const tensor> weight;
    std::vector<entry> entries; // in the order they were made: the first is the pinned one
  };

  mutable std::mutex mutex_;
  std::unordered_map<const tensor*, forms> packed_;
  std::size_t bytes_ = 0;
};

} // namespace troupe
