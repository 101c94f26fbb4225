#include "tests/kernels/value_case.hpp"

namespace troupe::tests {

namespace {

attribute_map with(std::string name, attribute value) {
  attribute_map made;
  made.set(std::move(name), std::move(value));
  return made;
}

tensor_sequence three() {
  return {dtype::float32, {floats({2}, {1, 2}), floats({1}, {3}), floats({3}, {4, 5, 6})}};
}

const tensor_sequence& sequence_of(const result<std::vector<datum>>& made) {
  BOOST_REQUIRE(made.has_value());
  return std::get<tensor_sequence>(made->front());
}

} // namespace

BOOST_AUTO_TEST_SUITE(sequence_values)

BOOST_AUTO_TEST_CASE(positions_count_from_both_ends) {
  const auto at = [](std::int64_t position) {
    return value_case{"SequenceAt", 11, {}, {three(), integers({}, {position})}}.run();
  };
  check_equal(at(0)->front(), floats({2}, {1, 2}));
  check_equal(at(-1)->front(), floats({3}, {4, 5, 6}));
  BOOST_TEST(!at(3).has_value());
  BOOST_TEST(!at(-4).has_value());
}

BOOST_AUTO_TEST_CASE(insertion_is_at_the_end_unless_a_position_says_otherwise) {
  const auto next = floats({1}, {9});
  const auto last = value_case{"SequenceInsert", 11, {}, {three(), next}}.run();
  check_equal(sequence_of(last).elements[3], next);
  const auto first =
      value_case{"SequenceInsert", 11, {}, {three(), next, integers({}, {-3})}}.run();
  check_equal(sequence_of(first).elements[0], next);
  const auto behind =
      value_case{"SequenceInsert", 11, {}, {three(), next, integers({}, {3})}}.run();
  check_equal(sequence_of(behind).elements[3], next);
  BOOST_TEST((
      !value_case{"SequenceInsert", 11, {}, {three(), next, integers({}, {4})}}.run().has_value()));
}

BOOST_AUTO_TEST_CASE(a_sequence_holds_one_type) {
  BOOST_TEST(
      (!value_case{"SequenceInsert", 11, {}, {three(), integers({1}, {1})}}.run().has_value()));
  BOOST_TEST(
      (!value_case{"SequenceConstruct", 11, {}, {floats({1}, {1}), integers({1}, {1})}}.run()));
}

BOOST_AUTO_TEST_CASE(a_tensor_is_no_sequence_and_a_sequence_no_tensor) {
  BOOST_TEST((!value_case{"SequenceLength", 11, {}, {floats({1}, {1})}}.run().has_value()));
  BOOST_TEST((!value_case{"SequenceConstruct", 11, {}, {three()}}.run().has_value()));
  BOOST_TEST((!value_case{"SequenceAt", 11, {}, {three()}}.run().has_value()));
}

BOOST_AUTO_TEST_CASE(erasing_takes_the_last_unless_a_position_says_otherwise) {
  const auto last = value_case{"SequenceErase", 11, {}, {three()}}.run();
  BOOST_TEST(sequence_of(last).elements.size() == 2U);
  const auto first = value_case{"SequenceErase", 11, {}, {three(), integers({}, {0})}}.run();
  check_equal(sequence_of(first).elements[0], floats({1}, {3}));
  const tensor_sequence empty{dtype::float32, {}};
  BOOST_TEST((!value_case{"SequenceErase", 11, {}, {empty}}.run().has_value()));
}

BOOST_AUTO_TEST_CASE(an_empty_sequence_has_a_type_and_no_length) {
  const auto made = value_case{"SequenceEmpty", 11, {}, {}, 1, {dtype::int64}}.run();
  BOOST_TEST((sequence_of(made).type == dtype::int64));
  const auto length = value_case{"SequenceLength", 11, {}, {made->front()}}.run();
  check_equal(length->front(), integers({}, {0}));
}

BOOST_AUTO_TEST_CASE(a_split_by_one_size_leaves_the_rest_to_the_last_part) {
  const auto from = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto made =
      value_case{"SplitToSequence", 11, with("axis", std::int64_t{1}), {from, integers({}, {2})}}
          .run();
  const auto& parts = sequence_of(made).elements;
  BOOST_REQUIRE(parts.size() == 2U);
  check_equal(parts[0], floats({2, 2}, {1, 2, 4, 5}));
  check_equal(parts[1], floats({2, 1}, {3, 6}));
}

BOOST_AUTO_TEST_CASE(a_split_without_sizes_may_drop_the_axis) {
  const auto from = texts({2, 2}, {"a", "bc", "", "d"});
  const auto made =
      value_case{"SplitToSequence", 11, with("keepdims", std::int64_t{0}), {from}}.run();
  const auto& parts = sequence_of(made).elements;
  BOOST_REQUIRE(parts.size() == 2U);
  check_equal(parts[0], texts({2}, {"a", "bc"}));
  check_equal(parts[1], texts({2}, {"", "d"}));
}

BOOST_AUTO_TEST_CASE(split_sizes_must_fill_the_axis) {
  const auto from = floats({3}, {1, 2, 3});
  for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{1, 1}, {2, 2}, {4, -1}})
    BOOST_TEST((!value_case{"SplitToSequence", 11, {}, {from, integers({2}, sizes)}}.run()));
  BOOST_TEST((!value_case{"SplitToSequence", 11, {}, {from, integers({}, {0})}}.run()));
}

BOOST_AUTO_TEST_CASE(tensors_join_along_an_axis_or_a_new_one) {
  const tensor_sequence parts{dtype::float32, {floats({2, 1}, {1, 2}), floats({2, 1}, {3, 4})}};
  const auto joined =
      value_case{"ConcatFromSequence", 11, with("axis", std::int64_t{-1}), {parts}}.run();
  check_equal(joined->front(), floats({2, 2}, {1, 3, 2, 4}));
  auto stacking = with("axis", std::int64_t{0});
  stacking.set("new_axis", std::int64_t{1});
  const auto stacked = value_case{"ConcatFromSequence", 11, stacking, {parts}}.run();
  check_equal(stacked->front(), floats({2, 2, 1}, {1, 2, 3, 4}));
  BOOST_TEST((!value_case{"ConcatFromSequence", 11, stacking, {three()}}.run().has_value()));
  BOOST_TEST(
      (!value_case{"ConcatFromSequence", 11, with("axis", std::int64_t{0}), {tensor_sequence{}}}
            .run()));
}

BOOST_AUTO_TEST_CASE(an_optional_is_empty_or_what_it_holds) {
  const auto holds = [](datum of) {
    return value_case{"OptionalHasElement", 18, {}, {std::move(of)}}.run()->front();
  };
  check_equal(holds(floats({1}, {1})), truths({}, {1}));
  check_equal(holds({}), truths({}, {0}));
  check_equal((value_case{"OptionalHasElement", 18, {}, {}}.run()->front()), truths({}, {0}));
  BOOST_TEST((!value_case{"OptionalGetElement", 15, {}, {datum{}}}.run().has_value()));
  check_equal((value_case{"OptionalGetElement", 15, {}, {floats({1}, {7})}}.run()->front()),
              floats({1}, {7}));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(selection_values)

BOOST_AUTO_TEST_CASE(positions_of_what_is_not_zero_stand_in_a_row_per_axis) {
  const auto found = value_case{"NonZero", 13, {}, {floats({2, 2}, {1, 0, -0.0F, 3})}}.run();
  check_equal(found->front(), integers({2, 2}, {0, 1, 0, 1}));
  const auto none = value_case{"NonZero", 13, {}, {truths({0, 3}, {})}}.run();
  check_equal(none->front(), integers({2, 0}, {}));
}

BOOST_AUTO_TEST_CASE(compression_keeps_what_the_condition_holds_for) {
  const auto from = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto rows =
      value_case{"Compress", 11, with("axis", std::int64_t{0}), {from, truths({3}, {0, 1, 1})}}
          .run();
  check_equal(rows->front(), floats({2, 2}, {3, 4, 5, 6}));
  const auto columns =
      value_case{"Compress", 11, with("axis", std::int64_t{-1}), {from, truths({2}, {0, 1})}}.run();
  check_equal(columns->front(), floats({3, 1}, {2, 4, 6}));
  const auto flat = value_case{"Compress", 11, {}, {from, truths({5}, {0, 1, 0, 0, 1})}}.run();
  check_equal(flat->front(), floats({2}, {2, 5}));
  BOOST_TEST(
      (!value_case{"Compress", 11, with("axis", std::int64_t{1}), {from, truths({3}, {1, 1, 1})}}
            .run()
            .has_value()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::tests
