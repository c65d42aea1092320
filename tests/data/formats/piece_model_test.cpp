#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/piece_model.hpp>
#include <limits>

#include "data/small_tokenizer.hpp"

namespace bochner {
namespace piece_model_test {

using testing::HasSubstr;

std::string field(int number, const std::string& bytes) {
  return std::string(1, char(number << 3 | 2)) + char((bytes.size() & 0x7f) | 0x80) +
         char(bytes.size() >> 7) + bytes;
}
std::string field(int number, char value) { return {char(number << 3), value}; }
std::string piece(const std::string& text, Piece::Kind kind, float score = -1) {
  std::string of_score(1, char(2 << 3 | 5));
  of_score.append(reinterpret_cast<const char*>(&score), sizeof(score));
  return field(1, field(1, text) + of_score + field(3, char(kind)));
}
constexpr float infinity = std::numeric_limits<float>::infinity();
const std::string unknown = piece("<unk>", Piece::Kind::unknown);

/// Returns table and texts as the library compiles them.
std::string replacements(const std::vector<std::uint32_t>& units, const std::string& texts) {
  const auto size = std::uint32_t(units.size() * sizeof(units[0]));
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(reinterpret_cast<const char*>(units.data()), size);
  return bytes + texts;
}

std::string problem(const std::string& model) {
  return message_or_none<DataError>([&] { parse_piece_model(bytes_of(model), "a.model"); });
}

TEST(PieceModel, OfTheLibraryIsRead) {
  for (const char* kind : {"unigram", "bpe"}) {
    const std::string model = small_model(kind);
    const PieceModel parsed = parse_piece_model(bytes_of(model), "a.model");
    EXPECT_EQ(parsed.pieces.size(), 330u);
    EXPECT_EQ(parsed.pieces[0].kind, Piece::Kind::unknown);
    EXPECT_EQ(parsed.pieces[1].text, "<0x00>");
    EXPECT_EQ(parsed.pieces[256].kind, Piece::Kind::byte);
    EXPECT_FALSE(parsed.adds_space);
  }
  EXPECT_TRUE(parse_piece_model(bytes_of(unknown), "a.model").adds_space);
}

TEST(PieceModel, IsRefusedInOneLine) {
  EXPECT_THAT(problem("no model at all"), HasSubstr("a.model: is not a SentencePiece model"));
  EXPECT_THAT(problem(""), HasSubstr("has 0 unknown pieces"));
  EXPECT_THAT(problem(unknown.substr(0, 5)), HasSubstr("or damaged"));
  EXPECT_THAT(problem(unknown + unknown), HasSubstr("has 2 unknown pieces"));
  EXPECT_THAT(problem(unknown + piece("", Piece::Kind::normal)), HasSubstr("piece 1 is empty"));
  EXPECT_THAT(problem(unknown + piece("\xff", Piece::Kind::normal)),
              HasSubstr("piece 1 is not UTF-8"));
  EXPECT_THAT(problem(unknown + piece(std::string(1, '\0'), Piece::Kind::normal)),
              HasSubstr("piece 1 holds a zero byte"));
  EXPECT_THAT(problem(unknown + piece("a", Piece::Kind::normal, infinity)),
              HasSubstr("piece 1 has no finite score"));
  EXPECT_THAT(problem(unknown + piece("a", Piece::Kind(9))), HasSubstr("has the unknown kind 9"));
  EXPECT_THAT(problem(unknown + piece("<0x0G>", Piece::Kind::byte)),
              HasSubstr("is not the name of a byte"));
  EXPECT_THAT(problem(unknown + piece("<0x0A>", Piece::Kind::byte)),
              HasSubstr("has 1 pieces of single bytes"));
  EXPECT_THAT(problem(unknown + field(2, field(3, '\3'))), HasSubstr("only unigram and bpe"));
}

/// The library would leave its table.
TEST(PieceModel, HasATableThatStaysInside) {
  const auto with = [&](const std::string& table) { return unknown + field(3, field(2, table)); };
  const std::vector<std::uint32_t> sound(256, 0);
  EXPECT_EQ(problem(with(replacements(sound, std::string("a\0", 2)))), "");
  EXPECT_THAT(problem(with(replacements(sound, "a"))), HasSubstr("is damaged"));
  EXPECT_THAT(problem(with("abc")), HasSubstr("is damaged"));
  EXPECT_THAT(problem(with(replacements({1, 2, 3}, std::string("a\0", 2)))),
              HasSubstr("is damaged"));
  std::vector<std::uint32_t> outside = sound;
  outside[0] = 300u << 10;  // begins its search at 300 of 256
  EXPECT_THAT(problem(with(replacements(outside, std::string("a\0", 2)))), HasSubstr("is damaged"));
  std::vector<std::uint32_t> beyond = sound;
  beyond[5] = 1u << 8 | 2u << 10;  // makes unit 7 an offset in the texts
  beyond[7] = 1u << 31 | 2;
  EXPECT_THAT(problem(with(replacements(beyond, std::string("a\0", 2)))), HasSubstr("is damaged"));
  std::string size = replacements(sound, std::string("a\0", 2));
  size[3] = '\x7f';
  EXPECT_THAT(problem(with(size)), HasSubstr("is damaged"));
}

}  // namespace piece_model_test
}  // namespace bochner
