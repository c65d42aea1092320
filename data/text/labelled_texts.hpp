#pragma once
/// Labelled texts: files in folders named after their label, or rows of tables.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/labelled/labelled.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <filesystem>

namespace bochner {

struct TextsSpec {
  std::string text_column = "text";
};
inline void describe(Keys& keys, TextsSpec& spec) {
  keys("text_column", spec.text_column, "column of the texts of a table, by name or number from 1");
}

struct LabelledRows {
  std::vector<std::string> texts, labels;
};
/// Text i has the label classes[labels[i]]; known classes come first, then new ones by alphabet.
struct TextsWithLabels {
  std::vector<std::string> texts, classes;
  std::vector<std::int32_t> labels;
};
/// Numbers the labels. Throws DataError if all are equal.
TextsWithLabels number_labels(LabelledRows rows, std::vector<std::string> known = {});
/// Reads files as texts, at most `length` bytes each, labelled by the name of their folder.
LabelledRows rows_of_folders(const std::vector<std::filesystem::path>& files, std::size_t length);
/// Returns the texts of a column that was read with CsvOptions::texts; "" if one is missing. Throws
/// DataError for other columns.
std::vector<std::string> texts_of_column(const NamedArray& table, const std::string& column);
/// Appends the rows of a table. Throws DataError if a label is missing.
void append_rows(LabelledRows& rows, const NamedArray& table, const std::string& text_column,
                 const std::string& label_column);

struct LabelledTextsSpec {
  std::size_t length = 256;  ///< first tokens of a text that are used
  double validation = 0.1;   ///< fraction of held-out texts, in random order
  std::uint64_t seed = 1;
  bool class_token = false;  ///< prepend a class token
  std::shared_ptr<const Tokenizer> tokenizer = make_byte_tokenizer();

  /// Returns how many bytes of a text hold these tokens.
  std::size_t bytes() const { return length * tokenizer->longest(); }
};

/// Returns the input of a classifier for a text: its tokens; for an empty text a line end.
LabelledExample labelled_text(const std::string& text, std::int32_t label,
                              const LabelledTextsSpec& spec);

class LabelledTexts : public LabelledSequences {
 public:
  LabelledTexts(TextsWithLabels texts, const LabelledTextsSpec& spec);
  const std::vector<std::string>& class_names() const { return texts_.classes; }
  const LabelledTextsSpec& spec() const { return spec_; }
  const std::string& text(Split split, std::uint64_t index) const {
    return texts_.texts[place(split, index)];
  }
  std::int32_t label(Split split, std::uint64_t index) const {
    return texts_.labels[place(split, index)];
  }
  std::uint64_t fingerprint() const override;

 protected:
  LabelledExample example(Split split, std::uint64_t index) const override;
  std::string describe() const override;

 private:
  /// Returns the place of an example in the files, in random order: files are listed by folder, so
  /// the last ones would all have one label.
  std::size_t place(Split split, std::uint64_t index) const;

  TextsWithLabels texts_;
  LabelledTextsSpec spec_;
};

}  // namespace bochner
