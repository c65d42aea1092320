#pragma once
/// Where the tokens of a sequence stand: coordinates for a SpaceTimeEncoding in place of the number
/// of a token.

#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/base/shape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Of an image, if there is one, else of a text.
struct TokenPlacesSpec {
  std::size_t rows = 0, columns = 0,
              channels = 1;                      ///< tokens: row by row, channels of a pixel last
  bool class_token = false;                      ///< stands in front of the image
  std::vector<std::int32_t> separator = {'\n'};  ///< tokens that end a part of a text: a line
  std::size_t length = 256;                      ///< of a text: the unit of its coordinates
};

/// What is known of the tokens before the next one.
struct TokenCursor {
  std::size_t position = 0;               ///< of the next token
  std::size_t part = 0, place = 0;        ///< its part of the text, and its place in that
  std::vector<std::int32_t> recent = {};  ///< the last tokens of that part, fewer than a separator
};

/// Points of space and time.
struct TokenPoints {
  Places places;
  std::vector<double> times;
};

/// Of an image: space is row and column, in units of its sides, and time the channel, in units of
/// their number; the class token is one pixel before the first. Of a text: time is the number of
/// the part, counted from the first token that is seen, and space the place in it, both in units of
/// `length`; a separator belongs to the part that it ends. No coordinate depends on later tokens.
class TokenPlaces {
 public:
  explicit TokenPlaces(const TokenPlacesSpec& spec);
  /// Coordinates of a place: 2 or 1.
  std::size_t dimensions() const { return spec_.rows > 0 ? 2 : 1; }
  /// Appends the point of the next token, which is `token`.
  void next(TokenCursor& cursor, std::int32_t token, TokenPoints& points) const;
  /// Of the tokens (B, T), one sequence after the other.
  TokenPoints of(const Indices& tokens) const;

 private:
  void count(TokenCursor& cursor, std::int32_t token) const;
  TokenPlacesSpec spec_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
