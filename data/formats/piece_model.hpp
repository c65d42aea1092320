#pragma once
/// SentencePiece models: protocol buffers, as its own tools write them.

#include <bochner/data/files/gzip.hpp>

namespace bochner {

/// Piece of a text; U+2581 is a space.
struct Piece {
  enum class Kind { normal = 1, unknown, control, user_defined, unused, byte };
  std::string text;
  Kind kind = Kind::normal;
};

struct PieceModel {
  std::vector<Piece> pieces;  ///< in the order of their ids
  bool adds_space = true;     ///< before each line
};

/// Parses a model and checks everything that the library trusts: numbers, sizes, names of bytes,
/// and that its search for replacements stays within its table. Throws DataError.
PieceModel parse_piece_model(ByteSpan file, const std::string& name);

}  // namespace bochner
