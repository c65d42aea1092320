#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/piece_model.hpp>
#include <cmath>
#include <cstring>

namespace bochner {
namespace {

constexpr std::size_t most_pieces = 1 << 22, bytes_of_pieces = 256;

/// Fields of a protocol buffer message, read one by one.
class Fields {
 public:
  Fields(ByteSpan message, const std::string& name) : rest_(message), name_(name) {}

  /// Wire type of a field: a number of varying or fixed size, or bytes.
  enum class Type { number = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };
  std::uint64_t number = 0;  ///< number of the field
  Type type = Type::number;
  std::uint64_t value = 0;
  ByteSpan bytes;

  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t tag = varying();
    number = tag >> 3;
    type = Type(tag & 7);
    if (type == Type::number) {
      value = varying();
    } else if (type == Type::bytes) {
      bytes = take(varying());
    } else if (type == Type::four_bytes || type == Type::eight_bytes) {
      const ByteSpan fixed = take(type == Type::four_bytes ? 4 : 8);
      value = 0;
      std::memcpy(&value, fixed.data(), fixed.size());
    } else {
      refuse();
    }
    return true;
  }

  bool is(std::uint64_t wanted, Type of) const { return number == wanted && type == of; }

 private:
  [[noreturn]] void refuse() const {
    throw DataError(name_,
                    ": is not a SentencePiece model, or damaged; make one with: bochner data "
                    "tokenizer FILE... -o words.model");
  }

  ByteSpan take(std::uint64_t size) {
    if (size > rest_.size()) refuse();
    const ByteSpan front = rest_.first(std::size_t(size));
    rest_ = rest_.subspan(front.size());
    return front;
  }

  std::uint64_t varying() {
    std::uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = take(1)[0];
      result |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    refuse();
  }

  ByteSpan rest_;
  const std::string& name_;
};

Piece piece_in(ByteSpan message, std::size_t index, const std::string& name) {
  Piece piece;
  for (Fields field(message, name); field.next();) {
    if (field.is(1, Fields::Type::bytes)) piece.text.assign(field.bytes.begin(), field.bytes.end());
    if (field.is(2, Fields::Type::four_bytes) &&
        !std::isfinite(std::bit_cast<float>(std::uint32_t(field.value))))
      throw DataError(name, ": piece ", index, " has no finite score");
    if (!field.is(3, Fields::Type::number)) continue;
    if (field.value < 1 || field.value > std::uint64_t(Piece::Kind::byte))
      throw DataError(name, ": piece ", index, " has the unknown kind ", field.value);
    piece.kind = Piece::Kind(field.value);
  }
  if (piece.text.empty() || !is_utf8(piece.text))
    throw DataError(name, ": piece ", index, " is ", piece.text.empty() ? "empty" : "not UTF-8");
  // The library's table takes a zero for the end of a piece.
  if (piece.text.find('\0') != piece.text.npos)
    throw DataError(name, ": piece ", index, " holds a zero byte");
  return piece;
}

void require_kind(ByteSpan trainer, const std::string& name) {
  std::uint64_t kind = 1;
  for (Fields field(trainer, name); field.next();)
    if (field.is(3, Fields::Type::number)) kind = field.value;
  if (kind != 1 && kind != 2)
    throw DataError(name, ": is a word or character model; only unigram and bpe are supported");
}

/// Unit of a double array (Darts-clone, Yata 2008): the offset of the next characters, or a value.
struct Unit {
  std::uint32_t bits;
  bool is_value() const { return bits >> 31; }
  bool has_value() const { return bits >> 8 & 1; }
  std::uint32_t value() const { return bits & 0x7fffffff; }
  std::uint32_t offset() const { return (bits >> 10) << ((bits & 0x200) >> 6); }
};

/// Returns whether every search stays inside the table. It begins at the first unit and goes from
/// unit i to (i ^ offset ^ character): with whole blocks of 256 units it stays inside if i ^ offset
/// does.
bool stays_inside(ByteSpan table, std::size_t values) {
  constexpr std::size_t block = 256 * sizeof(std::uint32_t);
  if (table.empty() || table.size() % block != 0) return false;
  std::vector<std::uint32_t> units(table.size() / sizeof(std::uint32_t));
  std::memcpy(units.data(), table.data(), table.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Unit unit{units[i]};
    if (i > 0 && unit.is_value()) continue;
    const std::size_t next = i ^ unit.offset();
    if (next >= units.size() || (unit.has_value() && Unit{units[next]}.value() >= values))
      return false;
  }
  return true;
}

/// Checks the replacements: the size of a table, the table, and zero-terminated texts, whose
/// offsets are its values.
void require_sound(ByteSpan replacements, const std::string& name) {
  if (replacements.empty()) return;
  std::uint32_t size = 0;
  const std::size_t head = sizeof(size);
  if (replacements.size() > head) std::memcpy(&size, replacements.data(), head);
  const bool fits = replacements.size() > head && size < replacements.size() - head;
  const std::size_t texts = fits ? replacements.size() - head - size : 0;
  if (!fits || replacements.back() != 0 || !stays_inside(replacements.subspan(head, size), texts))
    throw DataError(name, ": its table of character replacements is damaged");
}

void read_normalizer(ByteSpan message, const std::string& name, PieceModel& model) {
  for (Fields field(message, name); field.next();) {
    if (field.is(2, Fields::Type::bytes)) require_sound(field.bytes, name);
    if (field.is(3, Fields::Type::number)) model.adds_space = field.value != 0;
  }
}

/// Checks that all 256 bytes have a piece or none has, and that one piece is the unknown one.
void require_complete(const PieceModel& model, const std::string& name) {
  std::size_t unknown = 0, bytes = 0;
  for (const Piece& piece : model.pieces) {
    unknown += piece.kind == Piece::Kind::unknown;
    bytes += piece.kind == Piece::Kind::byte;
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::string& text = piece.text;
    if (piece.kind == Piece::Kind::byte &&
        !(text.size() == 6 && text.starts_with("<0x") && text[5] == '>' &&
          digits.find(text[3]) != digits.npos && digits.find(text[4]) != digits.npos))
      throw DataError(name, ": ", excerpt(text), " is not the name of a byte");
  }
  if (unknown != 1) throw DataError(name, ": has ", unknown, " unknown pieces, not 1");
  if (bytes != 0 && bytes != bytes_of_pieces)
    throw DataError(name, ": has ", bytes, " pieces of single bytes, not 256 or none");
}

}  // namespace

PieceModel parse_piece_model(ByteSpan file, const std::string& name) {
  PieceModel model;
  for (Fields field(file, name); field.next();) {
    if (field.type != Fields::Type::bytes) continue;
    if (field.number == 1) model.pieces.push_back(piece_in(field.bytes, model.pieces.size(), name));
    if (field.number == 2) require_kind(field.bytes, name);
    if (field.number == 3) read_normalizer(field.bytes, name, model);
    if (field.number == 5) {  // denormalizer
      PieceModel ignored;
      read_normalizer(field.bytes, name, ignored);
    }
    if (model.pieces.size() > most_pieces) throw DataError(name, ": has more than 2^22 pieces");
  }
  require_complete(model, name);
  return model;
}

}  // namespace bochner
