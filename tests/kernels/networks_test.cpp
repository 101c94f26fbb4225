// Recurrent layers and attention: answers worked out by hand on the smallest of shapes.

#include "tests/kernels/candidate_runner.hpp"
#include "tests/kernels/op_case.hpp"

#include <cmath>

using troupe::dtype;
using troupe::tests::check_candidates;
using troupe::tests::kernel_case;
using troupe::tests::op_case;
using floats = std::vector<float>;
using longs = std::vector<std::int64_t>;

namespace {

using texts = std::vector<std::string>;

// A sum of all inputs so far: identity activations and weights of one.
op_case running_sum(const std::string& direction) {
  op_case node{"RNN", 22};
  node.attribute("activations", texts{"Affine"}).attribute("direction", direction);
  node.input<float>({3, 1, 1}, {1, 2, 4})
      .input<float>({1, 1, 1}, {1}, true)
      .input<float>({1, 1, 1}, {1}, true);
  return node;
}

} // namespace

BOOST_AUTO_TEST_CASE(an_rnn_runs_forwards_and_backwards) {
  running_sum("forward").check_outputs<float>({{3, 1, 1, 1}, {1, 1, 1}}, {{1, 3, 7}, {7}});
  running_sum("reverse").check_outputs<float>({{3, 1, 1, 1}, {1, 1, 1}}, {{7, 6, 4}, {7}});
}

BOOST_AUTO_TEST_CASE(both_directions_have_weights_of_their_own) {
  op_case{"RNN", 22}
      .attribute("activations", texts{"Affine", "affine"})
      .attribute("direction", std::string{"bidirectional"})
      .input<float>({2, 1, 1}, {1, 2})
      .input<float>({2, 1, 1}, {1, 10}, true)
      .input<float>({2, 1, 1}, {1, 1}, true)
      .check_outputs<float>({{2, 2, 1, 1}, {2, 1, 1}}, {{1, 30, 3, 20}, {3, 30}});
}

BOOST_AUTO_TEST_CASE(steps_behind_a_sequence_are_zero_and_the_state_is_its_last) {
  op_case node{"RNN", 22};
  node.attribute("activations", texts{"Affine"}).attribute("direction", std::string{"reverse"});
  node.input<float>({3, 2, 1}, {1, 1, 2, 2, 4, 4})
      .input<float>({1, 1, 1}, {1}, true)
      .input<float>({1, 1, 1}, {1}, true)
      .absent()
      .input<std::int32_t>({2}, {2, 3});
  node.check_outputs<float>({{3, 1, 2, 1}, {1, 2, 1}}, {{3, 7, 2, 6, 0, 4}, {3, 7}});
}

BOOST_AUTO_TEST_CASE(a_sequence_longer_than_the_steps_is_refused_when_it_comes) {
  op_case node{"RNN", 22};
  node.input<float>({1, 1, 1}, {1})
      .input<float>({1, 1, 1}, {1}, true)
      .input<float>({1, 1, 1}, {1}, true)
      .absent()
      .input<std::int32_t>({1}, {2});
  BOOST_TEST(node.launch_error(dtype::float32, {1, 1, 1, 1}).find("[0, 1] expected, 2 found")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_reset_of_a_gru_comes_before_or_behind_its_weights) {
  // Update gate 0, reset gate 1/2 by its bias of 0; the state of 2 enters the candidate.
  const auto node = [](std::int64_t before) {
    op_case made{"GRU", 22};
    made.attribute("activations", texts{"HardSigmoid", "Affine"})
        .attribute("linear_before_reset", before)
        .input<float>({1, 1, 1}, {0})
        .input<float>({1, 3, 1}, {0, 0, 0}, true)
        .input<float>({1, 3, 1}, {0, 0, 3}, true)
        .input<float>({1, 6}, {-10, 0, 0, 0, 0, 1})
        .absent()
        .input<float>({1, 1, 1}, {2});
    return made;
  };
  node(0).check<float>({1, 1, 1, 1}, {4}, 1e-6);    // 3 * (1/2 * 2) + 1
  node(1).check<float>({1, 1, 1, 1}, {3.5F}, 1e-6); // 1/2 * (3 * 2 + 1)
}

BOOST_AUTO_TEST_CASE(an_lstm_looks_at_its_cell_through_peepholes) {
  // Gates i, o, f, c of HardSigmoid and identities; the cell starts with 1.
  op_case node{"LSTM", 22};
  node.attribute("activations", texts{"HardSigmoid", "Affine", "Affine"})
      .input<float>({1, 1, 1}, {2})
      .input<float>({1, 4, 1}, {0, 0, 0, 1}, true)
      .input<float>({1, 4, 1}, {0, 0, 0, 0}, true)
      .absent()
      .absent()
      .input<float>({1, 1, 1}, {0})
      .input<float>({1, 1, 1}, {1})
      .input<float>({1, 3}, {1, 0, 2});
  // i = 0.2 + 0.5, f = 0.4 + 0.5; C = 0.9 + 0.7 * 2; o = 0.5.
  node.check_outputs<float>({{1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {{1.15F}, {1.15F}, {2.3F}}, 1e-6);
}

BOOST_AUTO_TEST_CASE(recurrent_candidates_agree) {
  for (const auto* op : {"RNN", "GRU", "LSTM"})
    for (const auto* direction : {"forward", "reverse", "bidirectional"})
      for (std::int64_t before : {0, 1}) {
        const std::int64_t gates = op[0] == 'R' ? 1 : op[0] == 'G' ? 3 : 4;
        const std::int64_t directions = direction[0] == 'b' ? 2 : 1;
        const std::int64_t hidden = 19;
        kernel_case node{.op_type = op,
                         .attributes = {},
                         .inputs = {{5, 3, 7},
                                    {directions, gates * hidden, 7},
                                    {directions, gates * hidden, hidden},
                                    {directions, 2 * gates * hidden}},
                         .constant = {false, true, true, true},
                         .output = {5, directions, 3, hidden},
                         .version = 22};
        node.attributes.set("direction", std::string{direction});
        node.attributes.set("linear_before_reset", before);
        node.attributes.set("clip", 1.5F);
        check_candidates(node, "onednn:projected");
      }
}

BOOST_AUTO_TEST_CASE(the_batch_may_come_first) {
  op_case{"RNN", 22}
      .attribute("activations", texts{"Affine"})
      .attribute("layout", std::int64_t{1})
      .input<double>({2, 2, 1}, {1, 2, 10, 20})
      .input<double>({1, 1, 1}, {1})
      .input<double>({1, 1, 1}, {1})
      .check_outputs<double>({{2, 2, 1, 1}, {2, 1, 1}}, {{1, 3, 10, 30}, {3, 30}});
}

BOOST_AUTO_TEST_CASE(attention_without_scores_is_a_mean_of_the_values_seen) {
  const auto node = [] {
    op_case made{"Attention", 25};
    made.attribute("is_causal", std::int64_t{1});
    made.input<float>({1, 1, 2, 1}, {0, 0})
        .input<float>({1, 1, 2, 1}, {0, 0})
        .input<float>({1, 1, 2, 1}, {2, 4});
    return made;
  };
  node().check<float>({1, 1, 2, 1}, {2, 3}, 1e-6);
  // A row that a mask closes altogether is zero.
  node().truth({2, 2}, {0, 1, 1, 0}).check<float>({1, 1, 2, 1}, {0, 2}, 1e-6);
  // What came before is seen by all, and handed on.
  auto with_past = node();
  with_past.absent().input<float>({1, 1, 1, 1}, {0}).input<float>({1, 1, 1, 1}, {6});
  with_past.check_outputs<float>({{1, 1, 2, 1}, {1, 1, 3, 1}, {1, 1, 3, 1}},
                                 {{4, 4}, {0, 0, 0}, {6, 2, 4}}, 1e-6);
}

BOOST_AUTO_TEST_CASE(lengths_that_no_cache_has_are_refused_when_they_come) {
  op_case node{"Attention", 24};
  for (int input = 0; input < 3; ++input)
    node.input<float>({1, 1, 2, 1}, {0, 0});
  node.absent().absent().absent().input<std::int64_t>({1}, {3});
  BOOST_TEST(node.launch_error(dtype::float32, {1, 1, 2, 1}).find("[0, 2] expected, 3 found")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(attention_candidates_agree) {
  kernel_case apart{.op_type = "Attention",
                    .attributes = {},
                    .inputs = {{2, 6, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 12}, {2, 1, 5, 6}},
                    .constant = {false, false, false, false},
                    .output = {2, 6, 5, 12},
                    .version = 24};
  check_candidates(apart, "blocks");
  apart.attributes.set("softcap", 0.5F);
  apart.attributes.set("is_causal", std::int64_t{1});
  check_candidates(apart, "blocks");
  kernel_case bounded{.op_type = "Attention",
                      .attributes = {},
                      .inputs = {{2, 6, 30, 8}, {2, 3, 70, 8}, {2, 3, 70, 12}, {30, 50}},
                      .constant = {false, false, false, false},
                      .output = {2, 6, 30, 12},
                      .threads = 2,
                      .version = 24};
  check_candidates(bounded, "blocks"); // a mask that is shorter than the keys
  bounded.attributes.set("left_window_size", std::int64_t{9});
  bounded.attributes.set("right_window_size", std::int64_t{2});
  bounded.attributes.set("softcap", 2.0F);
  bounded.version = 25;
  check_candidates(bounded, "blocks");
  kernel_case together{.op_type = "Attention",
                       .attributes = {},
                       .inputs = {{2, 5, 24}, {2, 7, 24}, {2, 7, 36}},
                       .constant = {false, false, false},
                       .output = {2, 5, 36},
                       .threads = 2,
                       .version = 24};
  together.attributes.set("q_num_heads", std::int64_t{3});
  together.attributes.set("kv_num_heads", std::int64_t{3});
  together.attributes.set("scale", 3.0F);
  check_candidates(together, "blocks");
}

namespace {

using perm = std::vector<std::int64_t>;

// Two heads of queries for each of keys, a mask for each key and one for each query.
kernel_case fused_attention(std::int64_t queries, std::int64_t keys, std::int64_t size,
                            std::int64_t value_size, int threads) {
  kernel_case node{.op_type = "Attention",
                   .attributes = {},
                   .inputs = {{2, queries, 6, size},
                              {2, keys, 3, size},
                              {2, 3, keys, value_size},
                              {2, 1, 1, keys},
                              {6, queries, 1}},
                   .constant = {false, false, false, false, false},
                   .output = {2, queries, 6, value_size},
                   .threads = threads,
                   .version = 1,
                   .domain = "troupe"};
  node.attributes.set("q_perm", perm{0, 2, 1, 3});
  node.attributes.set("k_perm", perm{0, 2, 1, 3});
  node.attributes.set("v_perm", perm{0, 1, 2, 3});
  node.attributes.set("out_perm", perm{0, 2, 1, 3});
  node.attributes.set("scale", 0.7F);
  node.attributes.set("steps", perm{0, 0});
  node.attributes.set("otherwise", floats{0, 0});
  return node;
}

} // namespace

BOOST_AUTO_TEST_CASE(blocks_of_queries_agree_with_the_definition) {
  for (const int threads : {1, 2})
    for (const std::int64_t queries : {1, 2, 3, 24, 61})
      for (const std::int64_t keys : {1, 5, 33, 64})
        for (const std::int64_t size : {1, 7, 32})
          check_candidates(fused_attention(queries, keys, size, 65 - keys, threads), "blocks");
  // More keys than values stay in the cache, and scores whose rows would share their places in it.
  check_candidates(fused_attention(25, 2048, 8, 80, 2), "blocks");
}

BOOST_AUTO_TEST_CASE(queries_keys_and_values_may_share_a_tensor) {
  kernel_case node{.op_type = "Attention",
                   .attributes = {},
                   .inputs = {{2, 30, 9, 16}, {2, 30, 9, 16}, {2, 30, 9, 16}},
                   .constant = {false, false, false},
                   .output = {2, 30, 3, 16},
                   .version = 1,
                   .domain = "troupe"};
  for (const auto* of : {"q_perm", "k_perm", "v_perm", "out_perm"})
    node.attributes.set(of, perm{0, 2, 1, 3});
  node.attributes.set("heads", std::int64_t{3});
  node.attributes.set("kv_heads", std::int64_t{3});
  node.attributes.set("k_head", std::int64_t{3});
  node.attributes.set("v_head", std::int64_t{6});
  check_candidates(node, "blocks");
  node.attributes.set("v_head", std::int64_t{7}); // beyond the tensor
  const troupe::tests::candidate_runner runner{node};
  troupe::weight_cache weights;
  BOOST_TEST(!runner.run(0, weights).taken);
}

BOOST_AUTO_TEST_CASE(scores_stay_where_a_mask_says_so) {
  const auto node = [](std::int64_t kind) {
    op_case made{"Attention", 1};
    made.in_domain("troupe");
    for (const auto* of : {"q_perm", "k_perm", "v_perm", "out_perm"})
      made.attribute(of, perm{0, 1, 2});
    made.attribute("steps", perm{kind}).attribute("otherwise", floats{-1e30F});
    made.input<float>({1, 2, 1}, {0, 0})
        .input<float>({1, 3, 1}, {0, 0, 0})
        .input<float>({1, 3, 1}, {2, 4, 9})
        .truth({2, 3}, {1, 1, 0, 0, 0, 1});
    return made;
  };
  node(1).check<float>({1, 2, 1}, {3, 9}, 1e-6);
  node(2).check<float>({1, 2, 1}, {9, 3}, 1e-6);
}

BOOST_AUTO_TEST_CASE(heads_of_queries_share_those_of_keys) {
  op_case{"Attention", 23}
      .attribute("q_num_heads", std::int64_t{2})
      .attribute("kv_num_heads", std::int64_t{1})
      .input<float>({1, 1, 2}, {0, 0})
      .input<float>({1, 2, 1}, {5, -5})
      .input<float>({1, 2, 1}, {1, 3})
      .check<float>({1, 1, 2}, {2, 2}, 1e-6);
}

BOOST_AUTO_TEST_CASE(a_window_bounds_what_is_seen_on_both_sides) {
  op_case{"Attention", 25}
      .attribute("left_window_size", std::int64_t{0})
      .attribute("right_window_size", std::int64_t{1})
      .input<float>({1, 1, 3, 1}, {0, 0, 0})
      .input<float>({1, 1, 3, 1}, {0, 0, 0})
      .input<float>({1, 1, 3, 1}, {2, 4, 8})
      .check<float>({1, 1, 3, 1}, {3, 6, 8}, 1e-6);
}

BOOST_AUTO_TEST_CASE(rotations_turn_pairs_and_refuse_positions_beyond_the_cache) {
  const auto node = [](std::int64_t position) {
    op_case made{"RotaryEmbedding", 23};
    made.input<float>({1, 1, 1, 2}, {3, 5})
        .input<float>({2, 1}, {1, 0})
        .input<float>({2, 1}, {0, 1})
        .input<std::int64_t>({1, 1}, {position});
    return made;
  };
  node(0).check<float>({1, 1, 1, 2}, {3, 5}, 1e-6);
  node(1).check<float>({1, 1, 1, 2}, {-5, 3}, 1e-6);
  BOOST_TEST(node(2).launch_error(dtype::float32, {1, 1, 1, 2}).find("[0, 2) expected, 2 found")
             != std::string::npos);
}
