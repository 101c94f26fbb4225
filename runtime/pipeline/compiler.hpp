#pragma once

// `compile` in parts. Private to runtime/pipeline.

#include "runtime/pipeline/plan.hpp"

#include <map>
#include <set>
#include <utility>

namespace troupe::pipeline {

class compiler {
public:
  compiler(const definition& from, const find_signature& models) : from_(from), models_(models) {}

  result<std::shared_ptr<const plan>> run();

private:
  static constexpr std::size_t by_client = ~std::size_t{0}; ///< who makes an input

  template <class... Args>
  [[nodiscard]] tl::unexpected<error> wrong(fmt::format_string<Args...> text,
                                            Args&&... args) const {
    return fail(errc::invalid_argument, "{}: {}", from_.origin,
                fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  [[nodiscard]] tl::unexpected<error>
  wrong_in(const std::string& step, fmt::format_string<Args...> text, Args&&... args) const {
    return fail(errc::invalid_argument, "{}: step \"{}\": {}", from_.origin, step,
                fmt::format(text, std::forward<Args>(args)...));
  }

  result<void> name_values();
  result<value_id> add_value(const std::string& name, std::size_t maker);
  result<value_id> find(const std::string& step, std::string_view what, const std::string& tensor);
  result<void> connect();
  result<plan_step> connected(const step_definition& step);
  result<void> connect_inputs(plan_step& made, const step_definition& step, const signature& io);
  result<void> connect_outputs(plan_step& made, const step_definition& step, const signature& io);
  result<void> sort();
  result<void> type_inputs();
  result<void> type_steps();
  result<void> check_condition(const plan_step& step) const;
  result<void> type_output(const plan_step& step, const step_output& output, const signature& io);
  result<void> set_outputs();
  result<void> check_unused();

  const definition& from_;
  const find_signature& models_;
  plan made_;
  std::map<std::string, value_id> ids_;
  std::vector<std::size_t> makers_; ///< of each value: a step as declared, or `by_client`
  std::set<value_id> taken_;
  std::vector<signature> ports_; ///< of each step's model
};

} // namespace troupe::pipeline
