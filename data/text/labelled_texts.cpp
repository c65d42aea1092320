#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/files/gzip.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <cmath>
#include <ranges>
#include <set>

namespace bochner {
namespace {

constexpr std::uint64_t order_of_texts = ~std::uint64_t(0);  // an epoch that no run reaches

std::string front_of_file(const std::filesystem::path& path, std::size_t length) {
  const RegularFile file(path);
  std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(file.size(), length));
  file.read_at(0, bytes);
  refuse_gzip(bytes, path.string());
  return {bytes.begin(), bytes.end()};
}

std::size_t column_of_texts(const NamedArray& table, const std::string& wanted) {
  if (table.values.dimension() != 2)
    throw DataError("labelled texts are a table of rows and columns, not an array of ",
                    table.values.dimension(), " axes");
  return require_column(table, wanted);
}

/// Returns a label, which may also be a number.
std::string label_in(const NamedArray& table, std::size_t row, std::size_t column) {
  const double value = table.values(row, column);
  if (std::isnan(value)) throw DataError("row ", row + 1, ": its label is missing");
  const auto texts = table.texts.find(column);
  return texts == table.texts.end() ? format_number(value) : texts->second.at(std::size_t(value));
}

ExampleSet set_of(const TextsWithLabels& texts, const LabelledTextsSpec& spec) {
  const std::uint64_t validation = held_out(texts.texts.size(), spec.validation);
  return {spec.seed, texts.texts.size() - validation, validation};
}

}  // namespace

TextsWithLabels number_labels(LabelledRows rows, std::vector<std::string> known) {
  TextsWithLabels all{std::move(rows.texts), std::move(known), {}};
  std::map<std::string, std::int32_t> numbers;
  for (const std::string& name : all.classes) numbers.emplace(name, numbers.size());
  for (const std::string& name : std::set(rows.labels.begin(), rows.labels.end()))
    if (numbers.emplace(name, numbers.size()).second) all.classes.push_back(name);
  for (const std::string& label : rows.labels) all.labels.push_back(numbers.at(label));
  if (all.classes.size() < 2)
    throw DataError(all.classes.empty() ? "there are no labels"
                                        : "all texts have the label " + excerpt(all.classes[0]),
                    "; a classifier needs two or more: one folder per label, or data.label_column");
  return all;
}

LabelledRows rows_of_folders(const std::vector<std::filesystem::path>& files, std::size_t length) {
  LabelledRows rows;
  for (const auto& file : files) {
    rows.texts.push_back(front_of_file(file, length));
    rows.labels.push_back(std::filesystem::absolute(file).parent_path().filename().string());
  }
  return rows;
}

std::vector<std::string> texts_of_column(const NamedArray& table, const std::string& wanted) {
  const std::size_t column = column_of_texts(table, wanted);
  const auto found = table.texts.find(column);
  if (found == table.texts.end())
    throw DataError("column ", column_name(table, column), " holds numbers, not texts");
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    const double number = table.values(row, column);
    texts.push_back(std::isnan(number) ? "" : found->second.at(std::size_t(number)));
  }
  return texts;
}

void append_rows(LabelledRows& rows, const NamedArray& table, const std::string& text_column,
                 const std::string& label_column) {
  std::ranges::move(texts_of_column(table, text_column), std::back_inserter(rows.texts));
  const std::size_t column = column_of_texts(table, label_column);
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row)
    rows.labels.push_back(label_in(table, row, column));
}

LabelledExample labelled_text(const std::string& text, std::int32_t label,
                              const LabelledTextsSpec& spec) {
  const std::string_view front = std::string_view(text).substr(0, spec.bytes());
  std::vector<std::int32_t> tokens = spec.tokenizer->encode(front.empty() ? "\n" : front);
  if (tokens.empty()) tokens.push_back(0);  // the tokenizer has no piece for the text
  if (tokens.size() > spec.length) tokens.resize(spec.length);
  if (spec.class_token) tokens.insert(tokens.begin(), std::int32_t(spec.tokenizer->vocabulary()));
  return {std::move(tokens), label};
}

LabelledTexts::LabelledTexts(TextsWithLabels texts, const LabelledTextsSpec& spec)
    : LabelledSequences(set_of(texts, spec),
                        {spec.tokenizer->vocabulary() + spec.class_token, texts.classes.size(),
                         spec.length + spec.class_token}),
      texts_(std::move(texts)),
      spec_(spec) {}

std::size_t LabelledTexts::place(Split split, std::uint64_t index) const {
  const std::uint64_t shuffled = index + (split == Split::train ? 0 : examples().train);
  return permuted_index(spec_.seed, order_of_texts, shuffled, texts_.texts.size());
}

LabelledExample LabelledTexts::example(Split split, std::uint64_t index) const {
  return labelled_text(text(split, index), label(split, index), spec_);
}

std::uint64_t LabelledTexts::fingerprint() const {
  std::uint64_t hash = digest_of_elements(texts_.labels);
  for (const auto* all : {&texts_.classes, &texts_.texts})
    for (const std::string& text : *all) hash = digest_of_elements(text, hash);
  return examples_.fingerprint("texts", {hash, spec_.length, spec_.class_token});
}

std::string LabelledTexts::describe() const {
  const std::string names = joined(texts_.classes | std::views::take(4));
  return in_words(format_number_of(texts_.texts.size(), "text"), " of ",
                  format_number_of(classes(), "label"), " (", names, classes() > 4 ? ", .." : "",
                  ")");
}

}  // namespace bochner
