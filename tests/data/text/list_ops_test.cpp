#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/text/list_ops.hpp>
#include <cmath>
#include <set>

#include "data/batches.hpp"

namespace bochner {
namespace list_ops_test {

const ExampleSet examples{3, 10000, 10000};

/// Evaluates independently, on a stack and from the definition of each operation; also measures the
/// tree.
struct Evaluator {
  std::size_t depth = 1, most_arguments = 0, operations = 0, nodes = 0;

  int operator()(const std::vector<std::int32_t>& tokens) {
    std::vector<std::vector<int>> stack = {{}};
    std::vector<std::int32_t> pending;
    for (const std::int32_t token : tokens) {
      if (token < 10) {
        ++nodes;
        stack.back().push_back(token);
        depth = std::max(depth, stack.size());
      } else if (token < list_end) {
        ++nodes, ++operations;
        pending.push_back(token);
        stack.emplace_back();
      } else {
        EXPECT_EQ(token, list_end);
        const int value = apply(pending.back(), stack.back());
        pending.pop_back();
        stack.pop_back();
        stack.back().push_back(value);
      }
    }
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(stack.front().size(), 1u);
    return stack.front().front();
  }

 private:
  int apply(std::int32_t operation, const std::vector<int>& values) {
    EXPECT_GE(values.size(), 2u);
    most_arguments = std::max(most_arguments, values.size());
    int sum = 0;
    for (const int value : values) sum += value;
    if (operation == list_sum_modulo_10) return sum % 10;
    const auto rank = [&](std::size_t wanted) {  // the value with `wanted` smaller ones before it
      for (int candidate = 0; candidate < 10; ++candidate) {
        const auto at_most = std::count_if(values.begin(), values.end(),
                                           [&](int value) { return value <= candidate; });
        if (std::size_t(at_most) > wanted) return candidate;
      }
      return -1;
    };
    if (operation == list_minimum) return rank(0);
    if (operation == list_maximum) return rank(values.size() - 1);
    return (rank((values.size() - 1) / 2) + rank(values.size() / 2)) / 2;
  }
};

std::vector<std::int32_t> list(std::int32_t operation, std::vector<std::int32_t> digits) {
  digits.insert(digits.begin(), operation);
  digits.push_back(list_end);
  return digits;
}

TEST(ListOps, TheEvaluatorOfTheTestsKnowsTheOperations) {
  EXPECT_EQ(Evaluator()(list(list_minimum, {4, 2, 9})), 2);
  EXPECT_EQ(Evaluator()(list(list_maximum, {4, 2, 9})), 9);
  EXPECT_EQ(Evaluator()(list(list_median, {4, 2, 9})), 4);
  EXPECT_EQ(Evaluator()(list(list_median, {4, 1, 9, 1})), 2);
  EXPECT_EQ(Evaluator()(list(list_sum_modulo_10, {4, 2, 9})), 5);
}

TEST(ListOps, ValuesAreThoseOfAnotherEvaluator) {
  for (const std::size_t shortest : {4, 30, 300}) {
    const ListOpsSpec spec{shortest, 4 * shortest};
    for (std::uint64_t i = 0; i < 300; ++i) {
      const LabelledExample example = make_list_ops(spec, draws_of(examples, Split::validation, i));
      Evaluator evaluate;
      ASSERT_EQ(evaluate(example.tokens), example.label);
      EXPECT_LE(evaluate.depth, 10u);
      EXPECT_LE(evaluate.most_arguments, 10u);
      EXPECT_GE(example.tokens.size(), spec.shortest);
      EXPECT_LE(example.tokens.size(), spec.longest);
    }
  }
}

/// Statistics of 24,000 expressions by tests/golden/list_ops.py, an independent program of the
/// recipe.
constexpr double published_labels[] = {0.1684, 0.0935, 0.0733, 0.0830, 0.0889,
                                       0.0876, 0.0782, 0.0731, 0.0848, 0.1693};
constexpr double published_length = 1034, published_deviation = 393;

TEST(ListOps, HasTheStatisticsOfThePublishedRecipe) {
  const ListOpsSpec spec{501, 1999};
  const int count = 3000;
  const double sigmas = 5 * std::sqrt(1.0 / count + 1.0 / 24000);
  double labels[10] = {}, length = 0;
  Evaluator all;
  for (int i = 0; i < count; ++i) {
    const LabelledExample example =
        make_list_ops(spec, draws_of(examples, Split::validation, std::uint64_t(i)));
    labels[example.label] += 1.0 / count;
    length += double(example.tokens.size()) / count;
    all(example.tokens);
  }
  EXPECT_EQ(all.depth, 10u);
  EXPECT_EQ(all.most_arguments, 10u);
  EXPECT_NEAR(length, published_length, sigmas * published_deviation);
  for (int label = 0; label < 10; ++label) {
    const double p = published_labels[label];
    EXPECT_NEAR(labels[label], p, sigmas * std::sqrt(p * (1 - p))) << label;
  }
}

TEST(ListOps, LimitsTheTree) {
  const ListOpsSpec spec{4, 40, 3, 3};
  EXPECT_EQ(largest_list_ops(spec), 17);
  Evaluator all;
  std::size_t longest = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const auto tokens = make_list_ops(spec, draws_of(examples, Split::validation, i)).tokens;
    longest = std::max(longest, tokens.size());
    all(tokens);
  }
  EXPECT_EQ(all.depth, 3u);
  EXPECT_EQ(all.most_arguments, 3u);
  EXPECT_EQ(longest, 17u);
}

TEST(ListOps, BatchesArePaddedAndKnowTheirLengths) {
  const ListOps data({4, 30}, examples);
  const LabelledBatch batch = training_batch(data, 5, 8);
  const std::size_t T = batch.tokens.shape[1];
  EXPECT_EQ(T, *std::max_element(batch.lengths.begin(), batch.lengths.end()));
  EXPECT_EQ(batch.labels.shape, Shape{8});
  EXPECT_GT(std::set<std::size_t>(batch.lengths.begin(), batch.lengths.end()).size(), 1u);
  for (std::size_t row = 0; row < 8; ++row) {
    const auto begin = batch.tokens.values.begin() + std::ptrdiff_t(row * T);
    const auto end = begin + std::ptrdiff_t(batch.lengths[row]);
    EXPECT_EQ(Evaluator()({begin, end}), batch.labels.values[row]);
    EXPECT_TRUE(std::all_of(end, begin + std::ptrdiff_t(T),
                            [](std::int32_t token) { return token == list_padding; }));
  }
}

TEST(ListOps, PutsAClassTokenInFront) {
  ListOpsSpec spec{4, 30};
  const LabelledExample plain = make_list_ops(spec, draws_of(examples, Split::validation, 0));
  spec.class_token = true;
  LabelledExample marked = make_list_ops(spec, draws_of(examples, Split::validation, 0));
  EXPECT_EQ(marked.tokens.front(), list_class);
  marked.tokens.erase(marked.tokens.begin());
  EXPECT_EQ(marked.tokens, plain.tokens);
  EXPECT_EQ(ListOps(spec, examples).length(), 31u);
}

TEST(ListOps, RefusesSizesThatNoExpressionHas) {
  EXPECT_THROW(ListOps({31, 30}, examples), std::invalid_argument);
  EXPECT_THROW(ListOps({2, 3}, examples), std::invalid_argument);
  EXPECT_THROW(ListOps({18, 30, 3, 3}, examples), std::invalid_argument);
  EXPECT_THROW(ListOps({4, 30, 1, 3}, examples), std::invalid_argument);
  EXPECT_THROW(ListOps({4, 30, 3, 1}, examples), std::invalid_argument);
  EXPECT_THROW(make_list_ops({9999, 10000, 5, 10}, draws_of(examples, Split::validation, 0)),
               DataError);
}

TEST(ListOps, FingerprintsDifferWhereverTheExamplesDo) {
  std::set<std::uint64_t> all;
  for (const ListOpsSpec& spec :
       {ListOpsSpec{4, 30}, {5, 30}, {4, 31}, {4, 30, 9}, {4, 30, 10, 9}, {4, 30, 10, 10, true}})
    all.insert(ListOps(spec, examples).fingerprint());
  all.insert(ListOps({4, 30}, {4, 10000, 10000}).fingerprint());
  EXPECT_EQ(all.size(), 7u);
}

}  // namespace list_ops_test
}  // namespace bochner
