#pragma once
/// Texts with labels: files in folders that are called like their labels, or rows of tables.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/labelled/labelled.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <filesystem>

namespace bochner {

struct TextsSpec {
  std::string text_column = "text";
};
inline void describe(Keys& keys, TextsSpec& spec) {
  keys("text_column", spec.text_column,
       "texts: the column of the texts of a table, by name or by number from 1");
}

/// Texts and their labels in words.
struct LabelledRows {
  std::vector<std::string> texts, labels;
};
/// Text i has label classes[labels[i]]; classes are known ones, and then others in the order of the
/// alphabet.
struct TextsWithLabels {
  std::vector<std::string> texts, classes;
  std::vector<std::int32_t> labels;
};
/// Throws DataError where all have one label.
TextsWithLabels with_numbers(LabelledRows rows, std::vector<std::string> known = {});
/// Each file is a text, of which at most `length` bytes are read, and its label the name of its
/// folder.
LabelledRows rows_of_folders(const std::vector<std::filesystem::path>& files, std::size_t length);
/// The texts of a column that was read as one, CsvOptions::texts; "" where one is missing. Throws
/// DataError where it is no such column.
std::vector<std::string> texts_of_column(const NamedArray& table, const std::string& column);
/// Those of a table behind them. Throws DataError where a label is missing.
void append_rows(LabelledRows& rows, const NamedArray& table, const std::string& text_column,
                 const std::string& label_column);

struct LabelledTextsSpec {
  std::size_t length = 256;  ///< tokens of a text that are seen, the first
  double validation = 0.1;   ///< fraction of the texts that is held out, any of them
  std::uint64_t seed = 1;
  bool class_token = false;  ///< one more token in front
  std::shared_ptr<const Tokenizer> tokenizer = make_byte_tokenizer();

  /// Bytes at the front of a text, in which these tokens are.
  std::size_t bytes() const { return length * tokenizer->longest(); }
};

/// What a classifier sees of a text: its tokens, of an empty one a line end.
LabelledExample labelled_text(const std::string& text, std::int32_t label,
                              const LabelledTextsSpec& spec);

class LabelledTexts : public LabelledSequences {
 public:
  LabelledTexts(TextsWithLabels texts, const LabelledTextsSpec& spec);
  const std::vector<std::string>& class_names() const { return texts_.classes; }
  const LabelledTextsSpec& spec() const { return spec_; }
  std::uint64_t fingerprint() const override;

 protected:
  LabelledExample example(Split split, std::uint64_t index) const override;
  std::string describe() const override;

 private:
  TextsWithLabels texts_;
  LabelledTextsSpec spec_;
};

}  // namespace bochner
