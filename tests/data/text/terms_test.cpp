#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/text/terms.hpp>

namespace bochner {
namespace terms_test {

using testing::ElementsAre;

TEST(Words, AreRunsOfLettersAndDigitsInSmallLetters) {
  EXPECT_THAT(words_of("It's 2 GOOD, isn't it?"),
              ElementsAre("it", "s", "2", "good", "isn", "t", "it"));
  EXPECT_THAT(words_of("ÜBER Straße“ÉTÉ”"), ElementsAre("über", "straße", "été"));
  EXPECT_THAT(words_of("ПРИВЕТ, Ёлка"), ElementsAre("привет", "ёлка"));
  EXPECT_THAT(words_of("ΚΑΛΗ μέρα"), ElementsAre("καλη", "μέρα"));
  EXPECT_THAT(words_of("ŁÓDŹ Žižkov"), ElementsAre("łódź", "žižkov"));
  EXPECT_THAT(words_of(" ,.\n"), ElementsAre());
}

TEST(Words, AreSingleLettersWhereNoSpacesSeparateThem) {
  EXPECT_THAT(words_of("好看，very"), ElementsAre("好", "看", "very"));
  EXPECT_THAT(words_of("ok😀😀"), ElementsAre("ok", "😀", "😀"));
}

TEST(Words, KeepBytesThatAreNotUtf8) {
  EXPECT_THAT(words_of("caf\xe9 au"), ElementsAre("caf\xe9", "au"));
}

TEST(Terms, AreWordsAndRunsOfThem) {
  EXPECT_THAT(terms_of("a b c", 2), ElementsAre("a", "a b", "b", "b c", "c"));
  EXPECT_THAT(terms_of("a b c", 1), ElementsAre("a", "b", "c"));
}

TEST(Terms, AreThoseOfTheMostTexts) {
  const std::vector<std::string_view> texts = {"b a a", "a c", "a b", "d"};
  EXPECT_THAT(frequent_terms(texts, 1, 9), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(frequent_terms(texts, 1, 3), ElementsAre("a", "b")) << "c and d are equally frequent";
  EXPECT_THAT(frequent_terms(texts, 1, 1), ElementsAre("a"));
}

TEST(Terms, HaveNumbersOnceAText) {
  const TermNumbers numbers({"a", "a b", "b"}, 2);
  EXPECT_THAT(numbers.in("B! a b, A b x"), ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(numbers.in("x y"), ElementsAre());
}

}  // namespace terms_test
}  // namespace bochner
