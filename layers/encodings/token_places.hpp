#pragma once
/// Coordinates of the tokens of a sequence, for a SpaceTimeEncoding instead of positions.

#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/base/shape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Layout of the tokens: an image if rows > 0, else a text.
struct TokenPlacesSpec {
  std::size_t rows = 0, columns = 0,
              channels = 1;                      ///< tokens: row by row, channels of a pixel last
  bool class_token = false;                      ///< before the image
  std::vector<std::int32_t> separator = {'\n'};  ///< ends a part of a text: a line
  std::size_t length = 256;                      ///< unit of a text's coordinates
};

/// State before the next token.
struct TokenCursor {
  std::size_t position = 0;               ///< of the next token
  std::size_t part = 0, place = 0;        ///< part of the text, and place in the part
  std::vector<std::int32_t> recent = {};  ///< last tokens of the part, fewer than a separator
};

struct TokenPoints {
  Places places;
  std::vector<double> times;
};

/// Maps tokens to points. Image: space is row and column in units of the sides, time is the channel
/// in units of their number; the class token is one pixel before the first. Text: time is the
/// number of the part, counted from the first token, and space the place in it, both in units of
/// `length`; a separator belongs to the part it ends. No coordinate depends on later tokens.
class TokenPlaces {
 public:
  explicit TokenPlaces(const TokenPlacesSpec& spec);
  /// Returns the number of coordinates of a place: 2 or 1.
  std::size_t dimensions() const { return spec_.rows > 0 ? 2 : 1; }
  /// Appends the point of the next token, which is `token`.
  void next(TokenCursor& cursor, std::int32_t token, TokenPoints& points) const;
  /// Returns the points of tokens (B, T), sequence after sequence.
  TokenPoints of(const Indices& tokens) const;

 private:
  void count(TokenCursor& cursor, std::int32_t token) const;
  TokenPlacesSpec spec_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
