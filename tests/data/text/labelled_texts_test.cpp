#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/text/labelled_texts.hpp>

#include "data/gzip_file.hpp"
#include "data/small_tokenizer.hpp"

namespace bochner {
namespace labelled_texts_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const LabelledBatch& batch, std::size_t row) {
  const std::size_t T = batch.tokens.shape[1];
  const auto begin = batch.tokens.values.begin() + std::ptrdiff_t(row * T);
  return {begin, begin + std::ptrdiff_t(batch.lengths[row])};
}

NamedArray table(const std::string& text, const std::vector<std::string>& texts) {
  return parse_csv(text, "a.csv", {.texts = texts, .missing = "nan"});
}

TEST(LabelledTexts, AreFilesInFolders) {
  TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < 10; ++i)
    for (const char* label : {"spam", "ham"})
      files.push_back(
          folder.write(std::string(label) + "/" + std::to_string(i), label + std::to_string(i)));
  const TextsWithLabels all = number_labels(rows_of_folders(files, 100));
  EXPECT_THAT(all.classes, ElementsAre("ham", "spam"));
  const LabelledTexts texts(all, {.length = 4, .validation = 0.25});
  EXPECT_EQ(texts.examples().train, 15u);
  EXPECT_EQ(texts.examples().validation, 5u);
  EXPECT_EQ(texts.words(),
            "20 texts of 2 labels (ham, spam)  ·  15 examples to train, 5 to validate");
  int held_spam = 0;
  for (const Split split : {Split::train, Split::validation}) {
    const std::size_t count = texts.examples(split);
    const LabelledBatch batch = texts.batch(texts.in_order(split, 0, count));
    for (std::size_t row = 0; row < count; ++row) {
      const bool spam = batch.labels.values[row] == 1;
      EXPECT_THAT(text_of(batch, row), testing::StartsWith(spam ? "spam" : "ham"));
      EXPECT_LE(batch.lengths[row], 4u);
      held_spam += split == Split::validation && spam;
    }
  }
  EXPECT_GT(held_spam, 0);
  EXPECT_LT(held_spam, 5);
}

TEST(LabelledTexts, AreNotCompressed) {
  TemporaryFolder folder;
  const auto file = folder.write("spam/a.txt", gzip("spam"));
  EXPECT_EQ(message_of<DataError>([&] { rows_of_folders({file}, 100); }),
            file.string() + ": is a gzip file; unpack it");
}

TEST(LabelledTexts, AreRowsOfTables) {
  const NamedArray first = table("label,text\ngood,\"fine, yes\"\n0,no\n,x\n", {"label", "text"});
  LabelledRows rows;
  EXPECT_THAT(texts_of_column(first, "text"), ElementsAre("fine, yes", "no", "x"));
  EXPECT_THAT(message_of<DataError>([&] { append_rows(rows, first, "text", "label"); }),
              HasSubstr("row 3: its label is missing"));
  const NamedArray second = table("label,text\n1,a\n0,\n", {"label", "text"});
  rows = {};
  append_rows(rows, second, "text", "label");
  append_rows(rows, second, "text", "label");
  const TextsWithLabels all = number_labels(rows);
  EXPECT_THAT(all.texts, ElementsAre("a", "", "a", ""));
  EXPECT_THAT(all.classes, ElementsAre("0", "1"));
  EXPECT_THAT(all.labels, ElementsAre(1, 0, 1, 0));
  const TextsWithLabels known = number_labels(rows, {"1", "2"});
  EXPECT_THAT(known.classes, ElementsAre("1", "2", "0"));
  EXPECT_THAT(known.labels, ElementsAre(0, 2, 0, 2));
  EXPECT_THAT(message_of<DataError>([&] { texts_of_column(second, "words"); }),
              HasSubstr("no column \"words\""));
  EXPECT_THAT(message_of<DataError>([&] { texts_of_column(second, "label"); }),
              HasSubstr("holds numbers, not texts"));
}

TEST(LabelledTexts, HaveTokensEvenWhereTheyAreEmpty) {
  EXPECT_THAT(labelled_text("", 0, {}).tokens, ElementsAre('\n'));
  EXPECT_THAT(labelled_text("ab", 0, {.class_token = true}).tokens, ElementsAre(256, 'a', 'b'));
  EXPECT_THAT(labelled_text("\xff", 0, {}).tokens, ElementsAre(255));
}

TEST(LabelledTexts, MayBeWords) {
  const auto pieces = small_tokenizer();
  const LabelledTextsSpec spec{.length = 3, .class_token = true, .tokenizer = pieces};
  const std::string text = "the kernel learns a spectrum";
  std::vector<std::int32_t> tokens = pieces->encode(text);
  tokens.resize(3);
  tokens.insert(tokens.begin(), std::int32_t(pieces->vocabulary()));
  EXPECT_EQ(labelled_text(text, 0, spec).tokens, tokens);
  EXPECT_EQ(labelled_text("", 0, spec).tokens.size(), 2u);
  EXPECT_EQ(LabelledTexts({{"a", "b"}, {"x", "y"}, {0, 1}}, spec).vocabulary(), 331u);
}

TEST(LabelledTexts, NeedTwoLabels) {
  TemporaryFolder folder;
  const auto file = folder.write("one/a");
  EXPECT_THAT(message_of<DataError>([&] { number_labels(rows_of_folders({file}, 10)); }),
              HasSubstr("all texts have the label \"one\""));
}

}  // namespace labelled_texts_test
}  // namespace bochner
