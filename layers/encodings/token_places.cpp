#include <bochner/layers/encodings/token_places.hpp>

namespace bochner::inline BOCHNER_PRECISION {

TokenPlaces::TokenPlaces(const TokenPlacesSpec& spec) : spec_(spec) {
  require(spec.rows > 0 ? spec.columns > 0 && spec.channels > 0
                        : spec.length > 0 && !spec.separator.empty(),
          "token_places", "requires an image, or a text's separator and length");
}

void TokenPlaces::next(TokenCursor& cursor, std::int32_t token, TokenPoints& points) const {
  points.places.dimensions = dimensions();
  auto& coordinates = points.places.coordinates;
  if (spec_.rows == 0) {
    coordinates.push_back(double(cursor.place) / double(spec_.length));
    points.times.push_back(double(cursor.part) / double(spec_.length));
    count(cursor, token);
  } else if (spec_.class_token && cursor.position == 0) {
    coordinates.insert(coordinates.end(), {-1 / double(spec_.rows), -1 / double(spec_.columns)});
    points.times.push_back(0);
  } else {
    const std::size_t i = cursor.position - spec_.class_token, pixel = i / spec_.channels;
    coordinates.push_back(double(pixel / spec_.columns) / double(spec_.rows));
    coordinates.push_back(double(pixel % spec_.columns) / double(spec_.columns));
    points.times.push_back(double(i % spec_.channels) / double(spec_.channels));
  }
  ++cursor.position;
}

/// Counts a token of a text; a separator begins the next part.
void TokenPlaces::count(TokenCursor& cursor, std::int32_t token) const {
  cursor.recent.push_back(token);
  if (cursor.recent == spec_.separator) {
    cursor.recent.clear();
    cursor.place = 0;
    ++cursor.part;
    return;
  }
  ++cursor.place;
  if (cursor.recent.size() >= spec_.separator.size()) cursor.recent.erase(cursor.recent.begin());
}

TokenPoints TokenPlaces::of(const Indices& tokens) const {
  require(tokens.shape.size() == 2, "token_places", "tokens must be (B, T), not ", tokens.shape);
  TokenPoints points;
  points.places.dimensions = dimensions();
  const std::size_t T = tokens.shape[1];
  TokenCursor cursor;
  for (std::size_t i = 0; i < tokens.values.size(); ++i) {
    if (i % T == 0) cursor = {};
    next(cursor, tokens.values[i], points);
  }
  return points;
}

}  // namespace bochner::inline BOCHNER_PRECISION
