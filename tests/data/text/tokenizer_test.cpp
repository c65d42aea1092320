#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <cstdlib>
#include <sstream>

#include "data/small_tokenizer.hpp"

namespace bochner {
namespace tokenizer_test {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string marks =
    "a \xe2\x96\x81 b\n\n  two  spaces \t\r\n\xff\xc3(\xe2\x96 end \xf0\x9f\x8c\x8d";

std::string random_bytes(std::uint64_t number) {
  Draws draws({7, Purpose::test, number});
  std::string bytes(draws.below(300), '\0');
  for (char& byte : bytes) byte = char(draws.chance(0.5) ? draws.below(256) : 'a' + draws.below(5));
  return bytes;
}

TEST(Tokenizer, OfBytesTakesEachAsItIs) {
  const auto bytes = make_byte_tokenizer();
  EXPECT_EQ(bytes->vocabulary(), 256u);
  EXPECT_THAT(bytes->encode("a\xff"), ElementsAre('a', 255));
  EXPECT_EQ(decode(*bytes, bytes->encode(marks)), marks);
}

class PieceTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(PieceTokenizer, GivesBackWhateverItIsGiven) {
  const auto pieces = small_tokenizer(GetParam());
  std::vector<std::string> texts = {"", "\n", " ", marks, text_of_words(), std::string(1, '\0')};
  for (std::uint64_t i = 0; i < 200; ++i) texts.push_back(random_bytes(i));
  for (const std::string& text : texts) {
    const std::vector<std::int32_t> tokens = pieces->encode(text);
    EXPECT_EQ(decode(*pieces, tokens), text);
    for (const std::int32_t token : tokens) ASSERT_LT(std::size_t(token), pieces->vocabulary());
  }
}

TEST_P(PieceTokenizer, MakesFewTokensOfWordsThatItKnows) {
  const auto pieces = small_tokenizer(GetParam());
  const std::string text = text_of_words();
  EXPECT_LT(pieces->encode(text).size(), text.size() * 9 / 10);
}

/// Decides how texts are encoded for the cache.
TEST_P(PieceTokenizer, EncodesLineByLine) {
  const auto pieces = small_tokenizer(GetParam());
  const std::string text = text_of_words(20) + marks;
  std::vector<std::int32_t> joined;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = front_line(rest);
    for (const std::int32_t token : pieces->encode(line)) joined.push_back(token);
    rest.remove_prefix(line.size());
  }
  EXPECT_EQ(joined, pieces->encode(text));
}

TEST_P(PieceTokenizer, IsAFunctionOfTheText) {
  EXPECT_EQ(small_model(GetParam()), small_model(GetParam()));
}

/// SentencePiece's own tool encodes a line into the same pieces.
TEST_P(PieceTokenizer, IsReadByItsOwnTool) {
  if (std::system("command -v spm_encode >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "spm_encode is not installed";
  const TemporaryFolder folder;
  const std::string model = small_model(GetParam());
  const auto pieces = make_piece_tokenizer(bytes_of(model), "small.model");
  const std::string text = text_of_words(60);
  const std::string command =
      "spm_encode --output_format=id --model=" + folder.write("m.model", model).string() +
      " --input=" + folder.write("text", text).string() +
      " --output=" + (folder.path() / "ids").string() + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream ids(folder.path() / "ids");
  std::istringstream lines(text);
  int compared = 0;
  for (std::string line, numbers; std::getline(lines, line); ++compared) {
    ASSERT_TRUE(std::getline(ids, numbers));
    std::istringstream words(numbers);
    EXPECT_EQ((std::vector<std::int32_t>{std::istream_iterator<std::int32_t>(words), {}}),
              pieces->encode(line));
  }
  EXPECT_GT(compared, 60);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PieceTokenizer, testing::Values("unigram", "bpe"),
                         [](const auto& info) { return std::string(info.param); });

/// Characters are complete, however many tokens they have.
TEST(TextDecoder, WritesTokenByToken) {
  const auto pieces = small_tokenizer();
  TextDecoder decoder(*pieces);
  std::string text;
  for (const std::int32_t token : pieces->encode(marks)) {
    text += decoder.next(token);
    EXPECT_TRUE(marks.starts_with(text));
  }
  EXPECT_EQ(text, marks);
}

TEST(TrainTokenizer, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const ByteCorpus text({folder.write("a", text_of_words(3))});
  EXPECT_THAT(
      message_of<DataError>(
          [&] { train_tokenizer(text, {.model = "unigram", .vocabulary = 258}); }),
      HasSubstr("no unigram model of 258 pieces for this text: Vocabulary size is smaller"));
  const ByteCorpus nothing({folder.write("b", "\n\n")});
  EXPECT_THAT(message_of<DataError>([&] { train_tokenizer(nothing, {}); }),
              HasSubstr("the text is empty"));
  const ByteCorpus zeros({folder.write("c", std::string(5000, '\0'))});
  EXPECT_THAT(message_of<DataError>([&] { train_tokenizer(zeros, {}); }),
              HasSubstr("each of its lines holds a zero byte"));
}

TEST(TrainTokenizer, LooksAtPartOfALongText) {
  const TemporaryFolder folder;
  const ByteCorpus text({folder.write("a", text_of_words(2000))});
  const TokenizerTraining part{.model = "unigram", .vocabulary = 330, .bytes = 8000};
  EXPECT_NE(train_tokenizer(text, part),
            train_tokenizer(text, {.model = "unigram", .vocabulary = 330}));
}

}  // namespace tokenizer_test
}  // namespace bochner
