#include "runtime/pipeline/presence.hpp"

#include <algorithm>

namespace troupe::pipeline {

namespace {

constexpr std::size_t most_questions = 12;

std::vector<step_condition> questions_of(const plan& of) {
  std::vector<step_condition> found;
  for (const auto& step : of.steps)
    if (step.when && std::none_of(found.begin(), found.end(), [&](const auto& one) {
          return one.same_question(*step.when);
        }))
      found.push_back(*step.when);
  return found;
}

/// One way in which the answers may turn out: a bit a question, then a bit an optional input.
class turn {
public:
  turn(const plan& of, const std::vector<step_condition>& questions, std::size_t answers)
      : questions_(questions), answers_(answers), present_(of.values.size(), false) {
    auto bit = questions.size();
    for (std::size_t i = 0; i < of.io.inputs.size(); ++i)
      present_[i] = !of.io.inputs[i].optional || yes(bit++);
    for (const auto& step : of.steps)
      decide(step);
  }

  [[nodiscard]] bool present(value_id value) const { return present_[value]; }

private:
  [[nodiscard]] bool yes(std::size_t bit) const { return (answers_ >> bit & 1) != 0; }

  void decide(const plan_step& step) {
    bool runs = std::all_of(step.inputs.begin(), step.inputs.end(), [&](const auto& input) {
      return input.optional || present_[input.value];
    });
    if (step.when) {
      const auto question =
          std::find_if(questions_.begin(), questions_.end(),
                       [&](const auto& one) { return one.same_question(*step.when); });
      runs = runs && present_[step.when->value]
             && yes(static_cast<std::size_t>(question - questions_.begin())) == step.when->wanted;
    }
    for (const auto& output : step.outputs)
      present_[output.value] = runs || (output.otherwise && present_[*output.otherwise]);
  }

  const std::vector<step_condition>& questions_;
  std::size_t answers_;
  std::vector<bool> present_;
};

// Where the value comes from, as far as errors say it.
std::string made_by(const plan& of, value_id value) {
  for (const auto& step : of.steps)
    for (const auto& output : step.outputs)
      if (output.value == value)
        return fmt::format("where step \"{}\" does not run", step.name);
  return "where its input is left out";
}

} // namespace

result<void> check_presence(const plan& of, const definition& from) {
  const auto questions = questions_of(of);
  const auto optional = static_cast<std::size_t>(std::count_if(
      of.io.inputs.begin(), of.io.inputs.end(), [](const auto& one) { return one.optional; }));
  const auto bits = questions.size() + optional;
  if (bits > most_questions)
    return fail(errc::invalid_argument,
                "{}: expected at most {} different conditions and optional inputs, got {}",
                from.origin, most_questions, bits);
  for (std::size_t answers = 0; answers < std::size_t{1} << bits; ++answers) {
    const turn one{of, questions, answers};
    for (std::size_t i = 0; i < of.outputs.size(); ++i)
      if (!from.outputs[i].optional && !one.present(of.outputs[i]))
        return fail(errc::invalid_argument,
                    "{}: output \"{}\": tensor \"{}\" is missing {}: expected an \"otherwise\" "
                    "there, or optional = true",
                    from.origin, from.outputs[i].name, of.values[of.outputs[i]].name,
                    made_by(of, of.outputs[i]));
  }
  return {};
}

} // namespace troupe::pipeline
