// Operators on strings. Those that only move them need no row: they move positions instead.

#include "kernels/cpu/tables/value_table.hpp"

#include "kernels/cpu/value_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array operators{
    value_entry{"", "Cast", run_string_cast, value_nodes::strings},
    value_entry{"", "CastLike", run_string_cast, value_nodes::strings},
    value_entry{"", "Equal", run_string_equal, value_nodes::strings},
    value_entry{"", "RegexFullMatch", run_regex_full_match},
    value_entry{"", "StringConcat", run_string_concat},
    value_entry{"", "StringNormalizer", run_string_normalizer},
    value_entry{"", "StringSplit", run_string_split},
    value_entry{"", "TfIdfVectorizer", run_tf_idf_vectorizer},
};

} // namespace

std::span<const value_entry> text_value_kernels() {
  return operators;
}

} // namespace troupe::cpu
