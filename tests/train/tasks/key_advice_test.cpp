#include <gtest/gtest.h>

#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner {
namespace key_advice_test {

TEST(KeyAdvice, FindsTheKeyOfALastWord) {
  EXPECT_EQ(key_advice("--lr", "3"), "--set optim.lr=3");
  EXPECT_EQ(key_advice("--weight-decay", "0.1"), "--set optim.weight_decay=0.1");
  EXPECT_EQ(key_advice("--optim.lr", "3e-4"), "--set optim.lr=3e-4");
  EXPECT_EQ(key_advice("--mixer.heads", "4"), "--set model.mixer.heads=4");
  EXPECT_EQ(key_advice("--mixer", "softmax"), "--set model.mixer=softmax");
  EXPECT_EQ(key_advice("--files", "a b"), "--set 'data.files=a b'");
  EXPECT_EQ(key_advice("--seed", ""), "--set train.seed=...");
}

TEST(KeyAdvice, NamesTheNearestToTheTopOfSeveral) {
  EXPECT_EQ(key_advice("--batch", "8"), "--set train.batch=8");
  EXPECT_EQ(key_advice("--width", "8"), "--set model.width=8 or --set data.width=8");
}

TEST(KeyAdvice, SaysNothingOfOtherWords) {
  EXPECT_EQ(key_advice("--rnu", "x"), "");
  EXPECT_EQ(key_advice("--", ""), "");
}

}  // namespace key_advice_test
}  // namespace bochner
