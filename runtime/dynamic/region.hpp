#pragma once

#include "runtime/dynamic/context.hpp"
#include "runtime/dynamic/part.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::dynamic {

/// Nodes that planned kernels run. For given input dims everything up to where a shape depends on
/// data is one plan; the node that needs the data runs by itself once the data is there, and what
/// follows is a region again. Keeps what it made for the dims it saw last. Any thread.
class region {
public:
  region(part of, const tools& with);
  ~region();

  [[nodiscard]] const part& of() const noexcept { return part_; }

  /// Tensors in the order of the part's inputs; the outputs own their memory.
  [[nodiscard]] result<std::vector<tensor>> run(std::span<const tensor> inputs,
                                                const run_context& with) const;

private:
  struct prepared;
  using prepared_ptr = std::shared_ptr<const prepared>;

  [[nodiscard]] result<prepared_ptr> prepare(std::span<const tensor> inputs) const;
  [[nodiscard]] result<prepared_ptr> make(std::span<const shape> dims) const;
  [[nodiscard]] result<prepared_ptr> split(std::span<const shape> dims) const;

  part part_;
  tools with_;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<std::string, prepared_ptr>> recent_; // last used first
  mutable std::unordered_map<std::string, std::list<std::pair<std::string, prepared_ptr>>::iterator>
      known_;
};

} // namespace troupe::dynamic
