#include <gtest/gtest.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/studies/clustering.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace clustering_test {

/// Rows around three corners, in turns, of variance about 1 in all.
WeightedRows planted(std::size_t n) {
  const double corners[3][2] = {{-1, -1}, {1.5, -0.5}, {-0.2, 1.5}};
  WeightedRows rows{2, {}};
  for (std::size_t i = 0; i < 2 * n; ++i)
    rows.values.push_back(corners[i / 2 % 3][i % 2] +
                          0.25 * RandomFunction{1, Purpose::test, 1}.normal(i));
  return rows;
}

ClusteredTable table_of(WeightedRows rows) {
  ClusteredTable table;
  table.name = "rows.csv", table.columns = {"a", "b"}, table.mean = {0, 0},
  table.deviation = {1, 1};
  table.rows = std::move(rows);
  return table;
}

TEST(Clustering, EveryMethodFindsPlantedGroups) {
  for (const ClusteringMethod& method : clustering_methods()) {
    SCOPED_TRACE(method.name);
    ClusteringOptions options{.method = method.name};
    options.most = 4;
    ClusteredTable table = table_of(planted(90));
    fit_clusters(table, options);
    ASSERT_EQ(table.clustering.components.size(), 3u);
    EXPECT_EQ(label_counts(table), std::vector<std::size_t>(3, 30));
    for (std::size_t i = 0; i < 90; ++i) {
      EXPECT_EQ(table.labels[i], table.labels[i % 3]);
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += table.posterior.responsibilities[3 * i + k];
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    EXPECT_EQ(table.scores.size(), method.finds_number ? 1u : 4u);
    const std::string page = clustering_page(table, choice_in_words(table, options)).html();
    EXPECT_NE(page.find("3: 30 rows"), page.npos);
    EXPECT_EQ(page.find("Number of components") != page.npos, !method.finds_number);
  }
}

/// One component of `em` is the normal distribution of the other rows.
TEST(Clustering, HeldOutRowsAreScoredByTheOthers) {
  ClusteringOptions options{.components = 1};
  const WeightedRows rows = planted(40);
  const std::vector<HeldOutScore> scores = held_out_scores(rows, options);
  ASSERT_EQ(scores.size(), 1u);
  const double in_sample = [&] {
    double sum = 0;
    for (const double log :
         clustering_method("em").fit(rows, 1, options).posterior(rows).log_density)
      sum += log / 40;
    return sum;
  }();
  EXPECT_LT(scores[0].mean, in_sample);
  EXPECT_GT(scores[0].mean, in_sample - 0.5);
  options.seed = 2;
  EXPECT_NE(held_out_scores(rows, options)[0].mean, scores[0].mean);
}

TEST(Clustering, TakesTheFewestWithinAStandardError) {
  std::vector<HeldOutScore> scores{{1, -3, 0.1, 1, 0.2}, {2, -2.1, 0.1, 0.1, 0.2}, {3, -2, 0.1}};
  EXPECT_EQ(chosen_components(scores), 2u);
  scores[1].below_error = 0.05;
  EXPECT_EQ(chosen_components(scores), 3u);
}

TEST(Clustering, UsesTheOtherEntriesOfARow) {
  WeightedRows rows = planted(60);
  rows.values[9] = std::numeric_limits<double>::quiet_NaN();
  for (const ClusteringMethod& method : clustering_methods()) {
    if (!method.takes_missing) continue;
    ClusteredTable table = table_of(rows);
    fit_clusters(table, {.method = method.name, .components = 3});
    EXPECT_EQ(table.labels[4], table.labels[1]) << method.name;
  }
}

TEST(Clustering, BitsDoNotDependOnThreads) {
  for (const char* method : {"em", "variational"}) {
    std::vector<std::vector<double>> results;
    for (const std::size_t threads : {1, 3}) {
      set_thread_count(threads);
      ClusteredTable table = table_of(planted(600));
      fit_clusters(table, {.method = method, .components = 3});
      results.push_back(table.posterior.log_density);
    }
    set_thread_count(0);
    EXPECT_EQ(results[0], results[1]) << method;
  }
}

}  // namespace clustering_test
}  // namespace bochner
