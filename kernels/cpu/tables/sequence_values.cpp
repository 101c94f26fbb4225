// Operators on sequences and optionals.

#include "kernels/cpu/tables/value_table.hpp"

#include "kernels/cpu/value_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array operators{
    value_entry{"", "ConcatFromSequence", run_concat_from_sequence},
    value_entry{"", "Optional", run_optional},
    value_entry{"", "OptionalGetElement", run_optional_get_element},
    value_entry{"", "OptionalHasElement", run_optional_has_element},
    value_entry{"", "SequenceAt", run_sequence_at},
    value_entry{"", "SequenceConstruct", run_sequence_construct},
    value_entry{"", "SequenceEmpty", run_sequence_empty},
    value_entry{"", "SequenceErase", run_sequence_erase},
    value_entry{"", "SequenceInsert", run_sequence_insert},
    value_entry{"", "SequenceLength", run_sequence_length},
    value_entry{"", "SplitToSequence", run_split_to_sequence},
};

} // namespace

std::span<const value_entry> sequence_value_kernels() {
  return operators;
}

} // namespace troupe::cpu
