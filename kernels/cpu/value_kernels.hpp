#pragma once

#include "kernels/cpu/value_kernel.hpp"

namespace troupe::cpu {

// The value kernels, by operator. Each is a plain definition, to be read against the operator's.

result<std::vector<datum>> run_array_feature_extractor(const value_call& of);
result<std::vector<datum>> run_category_mapper(const value_call& of);
result<std::vector<datum>> run_compress(const value_call& of);
result<std::vector<datum>> run_concat_from_sequence(const value_call& of);
result<std::vector<datum>> run_label_encoder(const value_call& of);
result<std::vector<datum>> run_non_max_suppression(const value_call& of);
result<std::vector<datum>> run_non_zero(const value_call& of);
result<std::vector<datum>> run_one_hot_encoder_of_strings(const value_call& of);
result<std::vector<datum>> run_optional(const value_call& of);
result<std::vector<datum>> run_optional_get_element(const value_call& of);
result<std::vector<datum>> run_optional_has_element(const value_call& of);
result<std::vector<datum>> run_regex_full_match(const value_call& of);
result<std::vector<datum>> run_sequence_at(const value_call& of);
result<std::vector<datum>> run_sequence_construct(const value_call& of);
result<std::vector<datum>> run_sequence_empty(const value_call& of);
result<std::vector<datum>> run_sequence_erase(const value_call& of);
result<std::vector<datum>> run_sequence_insert(const value_call& of);
result<std::vector<datum>> run_sequence_length(const value_call& of);
result<std::vector<datum>> run_split_to_sequence(const value_call& of);
result<std::vector<datum>> run_string_cast(const value_call& of);
result<std::vector<datum>> run_string_concat(const value_call& of);
result<std::vector<datum>> run_string_equal(const value_call& of);
result<std::vector<datum>> run_string_normalizer(const value_call& of);
result<std::vector<datum>> run_string_split(const value_call& of);
result<std::vector<datum>> run_tf_idf_vectorizer(const value_call& of);
result<std::vector<datum>> run_unique(const value_call& of);

} // namespace troupe::cpu
