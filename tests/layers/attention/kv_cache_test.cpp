#include <bochner/layers/attention/kv_cache.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace seen_tokens_test {

/// Averages ones by equal weights.
TEST(SeenTokens, SumsManyValues) {
  KvCache seen;
  const Tensor key = zeros({1, 1, 1, 2}), value = filled({1, 1, 1, 2}, 1);
  for (int t = 0; t < 200000; ++t) seen.append(key, value, t);
  const Tensor y = seen.attend(key, Tensor(Shape{}));
  EXPECT_NEAR(y.data()[0], 1, 1e-6);
  EXPECT_NEAR(y.data()[2], std::log(200000.0), 1e-4);
}

TEST(SeenTokens, AreOfTheSameHeads) {
  KvCache seen;
  seen.append(zeros({2, 1, 3, 4}), zeros({2, 1, 3, 4}), 0);
  const Tensor other = zeros({1, 1, 3, 4});
  EXPECT_EQ(op_check::error_of([&] { seen.append(other, other, 1); }),
            "[attention] expected keys of 6 heads, got 3");
}

}  // namespace seen_tokens_test
}  // namespace bochner::inline BOCHNER_PRECISION
