// ai.onnx.ml on strings.

#include "kernels/cpu/tables/value_table.hpp"

#include "kernels/cpu/value_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::string_view ml = "ai.onnx.ml";

constexpr std::array operators{
    value_entry{ml, "ArrayFeatureExtractor", run_array_feature_extractor, value_nodes::strings},
    value_entry{ml, "CategoryMapper", run_category_mapper},
    value_entry{ml, "LabelEncoder", run_label_encoder},
    value_entry{ml, "OneHotEncoder", run_one_hot_encoder_of_strings, value_nodes::strings},
};

} // namespace

std::span<const value_entry> label_value_kernels() {
  return operators;
}

} // namespace troupe::cpu
