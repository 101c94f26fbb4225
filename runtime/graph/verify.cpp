#include "runtime/graph/verify.hpp"

#include <vector>

namespace troupe::graph {

namespace {

class checker {
public:
  explicit checker(const graph& of) : of_{of}, ready_(of.values.size(), false) {}

  result<void> check() {
    for (value_id id = 0; id < of_.values.size(); ++id)
      ready_[id] = of_.values[id].constant != nullptr;
    for (auto input : of_.inputs) {
      if (input >= of_.values.size() || of_.values[input].producer != no_node)
        return fail(errc::internal, "graph input {} is produced by a node", input);
      ready_[input] = true;
    }
    for (node_id id = 0; id < of_.nodes.size(); ++id)
      if (!of_.nodes[id].removed)
        if (auto good = check_node(id); !good)
          return fail(errc::internal, "node '{}' ({}): {}", of_.nodes[id].name,
                      of_.nodes[id].op_type, good.error().text);
    for (auto output : of_.outputs)
      if (output >= of_.values.size() || !ready_[output])
        return fail(errc::internal, "graph output {} is not produced", output);
    return {};
  }

private:
  result<void> check_node(node_id id) {
    for (auto input : of_.nodes[id].inputs)
      if (input != no_value && (input >= of_.values.size() || !ready_[input]))
        return fail(errc::internal, "input '{}' is not there yet",
                    input < of_.values.size() ? of_.values[input].name : "?");
    for (auto output : of_.nodes[id].outputs) {
      if (output == no_value)
        continue;
      if (output >= of_.values.size() || ready_[output])
        return fail(errc::internal, "output {} is produced twice", output);
      if (of_.values[output].producer != id)
        return fail(errc::internal, "output '{}' names another producer", of_.values[output].name);
      ready_[output] = true;
    }
    return {};
  }

  const graph& of_;
  std::vector<bool> ready_;
};

} // namespace

result<void> verify(const graph& of) {
  return checker{of}.check();
}

} // namespace troupe::graph
