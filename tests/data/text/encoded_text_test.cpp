#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/text/encoded_text.hpp>

#include "data/batches.hpp"
#include "data/small_tokenizer.hpp"

namespace bochner {
namespace encoded_text_test {

using testing::HasSubstr;

struct EncodedTexts : testing::Test {
  TemporaryFolder folder;
  std::shared_ptr<const Tokenizer> tokenizer = small_tokenizer();
  std::string text = text_of_words() + "and a last line";

  ByteCorpus corpus() const {
    return ByteCorpus(
        {folder.write("a", text.substr(0, 1001)), folder.write("b", text.substr(1001))});
  }
  std::string written(const ByteCorpus& of) const {
    std::string bytes;
    write_encoded(of, *tokenizer, [&](std::string_view piece) { bytes += piece; });
    return bytes;
  }
  WordWindows windows(std::size_t length) const {
    return {corpus(), EncodedText(corpus(), *tokenizer), tokenizer, length, 0.1, 1};
  }
};

std::vector<std::int32_t> tokens_of(const EncodedText& text) {
  std::vector<std::int32_t> tokens(text.size());
  text.read(0, tokens);
  return tokens;
}

TEST_F(EncodedTexts, AreThoseOfTheWholeText) {
  const EncodedText held(corpus(), *tokenizer);
  EXPECT_EQ(tokens_of(held), tokenizer->encode(text));
  EXPECT_EQ(held.bytes_ratio(), 1);
  const auto file = folder.write("tokens", written(corpus()));
  const EncodedText read(file, encoding_id(corpus(), *tokenizer));
  EXPECT_EQ(tokens_of(read), tokens_of(held));
  std::vector<std::int32_t> some(5);
  read.read(7, some);
  const std::vector<std::int32_t> all = tokens_of(held);
  EXPECT_TRUE(std::ranges::equal(some, std::span(all).subspan(7, 5)));
}

TEST_F(EncodedTexts, AreRefusedWhereTheyAreDamaged) {
  const std::string bytes = written(corpus());
  const std::uint64_t id = encoding_id(corpus(), *tokenizer);
  const auto problem = [&](const std::string& other) {
    const auto file = folder.write("tokens", other);
    return message_of<DataError>([&] { EncodedText(file, id); });
  };
  for (std::size_t at = 0; at < bytes.size(); at += at + 64 < bytes.size() ? 97 : 1) {
    std::string other = bytes;
    other[at] = char(other[at] ^ 4);
    EXPECT_THAT(problem(other), HasSubstr("remove it, and it is recreated")) << at;
  }
  for (const std::size_t size : {std::size_t(0), std::size_t(9), bytes.size() - 2})
    EXPECT_THAT(problem(bytes.substr(0, size)), HasSubstr("remove it, and it is recreated"));
  const auto file = folder.write("tokens", bytes);
  EXPECT_THAT(message_of<DataError>([&] { EncodedText(file, id + 1); }),
              HasSubstr("of another text or tokenizer"));
}

TEST_F(EncodedTexts, AreGivenUpWhenAsked) {
  struct Stop {};
  EXPECT_THROW(write_encoded(
                   corpus(), *tokenizer, [](std::string_view) {}, [] { throw Stop(); }),
               Stop);
}

TEST_F(EncodedTexts, AreToldApart) {
  const std::uint64_t id = encoding_id(corpus(), *tokenizer);
  EXPECT_NE(encoding_id(corpus(), *small_tokenizer("bpe")), id);
  text[500] = '?';
  EXPECT_NE(encoding_id(corpus(), *tokenizer), id);
}

TEST_F(EncodedTexts, AreCutIntoWindows) {
  const WordWindows data = windows(16);
  const std::vector<std::int32_t> all = tokenizer->encode(text);
  const std::size_t held = held_out(all.size(), 0.1);
  EXPECT_EQ(data.examples(Split::validation), (held - 1) / 16);
  const Batch batch = data.batch(data.in_order(Split::validation, 0, 1));
  for (std::size_t t = 0; t < 16; ++t) {
    EXPECT_EQ(batch.inputs.values[t], all[all.size() - held + t]);
    EXPECT_EQ(batch.targets.values[t], all[all.size() - held + t + 1]);
  }
  EXPECT_EQ(data.bytes_of(batch.targets), double(decode(*tokenizer, batch.targets.values).size()));
  EXPECT_THAT(data.words(), HasSubstr("tokens of 330 kinds"));
  EXPECT_EQ(data.fingerprint(), *corpus().fingerprint({}));
  EXPECT_THAT(message_of<DataError>([&] { windows(100000); }),
              HasSubstr("training tokens, there are"));
}

}  // namespace encoded_text_test
}  // namespace bochner
