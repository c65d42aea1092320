#include <bochner/layers/encodings/token_places.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace token_places_test {

using Numbers = std::vector<double>;

Indices text_of(const std::string& text) { return {{1, text.size()}, {text.begin(), text.end()}}; }

TEST(TokenPlaces, OfATextAreLineAndPlaceInIt) {
  const TokenPlaces lines({.length = 4});
  const TokenPoints points = lines.of(text_of("ab\n\ncd"));
  EXPECT_EQ(lines.dimensions(), 1u);
  EXPECT_EQ(points.places.coordinates, (Numbers{0, 0.25, 0.5, 0, 0, 0.25}));
  EXPECT_EQ(points.times, (Numbers{0, 0, 0, 0.25, 0.5, 0.5}));
}

TEST(TokenPlaces, SeparatorsMayBeLonger) {
  const TokenPlaces paragraphs({.separator = {'\n', '\n'}, .length = 1});
  const TokenPoints points = paragraphs.of(text_of("a\nb\n\n\nc\n\nd"));
  EXPECT_EQ(points.times, (Numbers{0, 0, 0, 0, 0, 1, 1, 1, 1, 2}));
  EXPECT_EQ(points.places.coordinates, (Numbers{0, 1, 2, 3, 4, 0, 1, 2, 3, 0}));
}

TEST(TokenPlaces, OfAnImageAreRowColumnAndChannel) {
  const TokenPlaces image({.rows = 2, .columns = 2, .channels = 2});
  const TokenPoints points = image.of({{2, 8}, std::vector<std::int32_t>(16)});
  const Numbers places{0, 0, 0, 0, 0, 0.5, 0, 0.5, 0.5, 0, 0.5, 0, 0.5, 0.5, 0.5, 0.5};
  Numbers twice = places;
  twice.insert(twice.end(), places.begin(), places.end());
  EXPECT_EQ(points.places.coordinates, twice);  // one image per sequence
  EXPECT_EQ(Numbers(points.times.begin(), points.times.begin() + 4), (Numbers{0, 0.5, 0, 0.5}));
  const TokenPlaces marked({.rows = 1, .columns = 4, .class_token = true});
  EXPECT_EQ(marked.of({{1, 3}, {0, 0, 0}}).places.coordinates, (Numbers{-1, -0.25, 0, 0, 0, 0.25}));
}

/// Token by token and all at once.
TEST(TokenPlaces, DependOnThePastAlone) {
  const TokenPlaces lines({.separator = {'b', 'b'}, .length = 8});
  const Indices text = text_of("abbabbbba");
  const TokenPoints all = lines.of(text);
  TokenCursor cursor;
  TokenPoints points;
  for (const std::int32_t token : text.values) lines.next(cursor, token, points);
  EXPECT_EQ(points.places.coordinates, all.places.coordinates);
  EXPECT_EQ(points.times, all.times);
  EXPECT_EQ(points.times, (Numbers{0, 0, 0, 0.125, 0.125, 0.125, 0.25, 0.25, 0.375}));
}

TEST(TokenPlaces, SayWhatTheyNeed) {
  EXPECT_EQ(op_check::error_of([] { TokenPlaces({.separator = {}}); }),
            "[token_places] requires an image, or a text's separator and length");
}

TEST(TokenPlaces, OfAnImageThatIsNoSquareAreInUnitsOfBothSides) {
  const TokenPlaces image({.rows = 2, .columns = 4});
  const TokenPoints points = image.of({{1, 8}, std::vector<std::int32_t>(8)});
  EXPECT_EQ(points.places.coordinates,
            (Numbers{0, 0, 0, 0.25, 0, 0.5, 0, 0.75, 0.5, 0, 0.5, 0.25, 0.5, 0.5, 0.5, 0.75}));
}

}  // namespace token_places_test
}  // namespace bochner::inline BOCHNER_PRECISION
