// Classifiers of ai.onnx.ml whose labels are strings: they give the place of the label, and a
// LabelEncoder behind them the label.

#include "runtime/passes/legalize/legalizer.hpp"

#include <array>

namespace troupe::passes {

namespace {

constexpr std::string_view ml = "ai.onnx.ml";

result<bool> with_places(legalizer& to, const node& of, const char* integers) {
  const auto* labels = of.attributes.find<std::vector<std::string>>("classlabels_strings");
  if (labels == nullptr || labels->empty())
    return false;
  std::vector<std::int64_t> places(labels->size());
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<std::int64_t>(i);
  auto classifier = of;
  classifier.attributes.erase("classlabels_strings");
  classifier.attributes.set(integers, places);
  if (of.outputs[0] == no_value) {
    to.add(std::move(classifier));
    return true;
  }
  const auto place = to.fresh(of.name + ":place");
  classifier.outputs[0] = place;
  to.add(std::move(classifier));
  node encoder;
  encoder.name = of.name + "/labels";
  encoder.domain = ml;
  encoder.op_type = "LabelEncoder";
  encoder.version = 2;
  encoder.attributes = attributes_of({{"keys_int64s", places}, {"values_strings", *labels}});
  encoder.inputs = {place};
  encoder.outputs = {of.outputs[0]};
  to.add(std::move(encoder));
  return true;
}

result<bool> trees(legalizer& to, const node& of) {
  return with_places(to, of, "classlabels_int64s");
}

result<bool> other(legalizer& to, const node& of) {
  return with_places(to, of, "classlabels_ints");
}

constexpr std::array entries{
    legalization_entry{ml, "LinearClassifier", other},
    legalization_entry{ml, "SVMClassifier", other},
    legalization_entry{ml, "TreeEnsembleClassifier", trees},
};

} // namespace

std::span<const legalization_entry> classifier_legalizations() {
  return entries;
}

} // namespace troupe::passes
