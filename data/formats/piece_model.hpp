#pragma once
/// Models of SentencePiece: protocol buffers, as its own tools write them.

#include <bochner/data/files/gzip.hpp>
#include <string>
#include <vector>

namespace bochner {

/// A piece of a text, in which U+2581 stands for a space.
struct Piece {
  enum class Kind { normal = 1, unknown, control, user_defined, unused, byte };
  std::string text;
  Kind kind = Kind::normal;
};

struct PieceModel {
  std::vector<Piece> pieces;  ///< in the order of their numbers
  bool adds_space = true;     ///< in front of each line
};

/// Checks all that the library which reads it trusts: numbers, sizes, names of bytes, and that its
/// search for letters to replace stays within its table. `name` stands in errors. Throws DataError.
PieceModel parse_piece_model(ByteSpan file, const std::string& name);

}  // namespace bochner
