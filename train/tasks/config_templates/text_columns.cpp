#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/tasks/config_templates/text_columns.hpp>
#include <span>

namespace bochner {
namespace {

// The first five decide alone what a column is.
constexpr std::string_view text_names[] = {
    "text", "review",   "message", "sentence", "comment",  "content",  "body",       "tweet",
    "sms",  "headline", "title",   "summary",  "question", "document", "description"};
constexpr std::string_view label_names[] = {"label", "class",  "category", "sentiment", "topic",
                                            "genre", "target", "rating",   "score",     "stars",
                                            "spam",  "intent", "emotion",  "language",  "section"};
constexpr std::size_t sure_names = 5;

/// Returns the first of the names that a column has, and whose column fits.
template <class Fits>
std::optional<std::size_t> named_column(const InferredTable& table,
                                        std::span<const std::string_view> names, const Fits& fits) {
  for (const std::string_view name : names)
    if (const auto column = table.called(name); column && fits(*column)) return column;
  return std::nullopt;
}

/// Returns whether nearly all cells differ and have several words.
bool holds_texts(const InferredTable& table, std::size_t column) {
  constexpr double fewest_words = 3;
  return is_among(column, table.words) && table.words_per_cell[column] >= fewest_words &&
         2 * table.texts[column] > table.sampled;
}

/// Returns whether cells repeat like labels; at the start of a sorted table all may be equal.
bool holds_labels(const InferredTable& table, std::size_t column) {
  constexpr std::size_t most_numbers = 20;
  const std::size_t values = table.texts[column];
  return values >= 1 && 2 * values <= std::max<std::size_t>(table.sampled, 2) &&
         (is_among(column, table.words) ||
          (is_among(column, table.whole_numbers) && values <= most_numbers));
}

/// Returns the column of texts or whole numbers with the fewest values, two or more.
std::optional<std::size_t> column_of_fewest(const InferredTable& table, std::size_t text) {
  std::optional<std::size_t> fewest;
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (i != text && holds_labels(table, i) && table.texts[i] >= 2 &&
        (!fewest || table.texts[i] < table.texts[*fewest]))
      fewest = i;
  return fewest;
}

}  // namespace

std::optional<TextColumns> text_columns(const InferredTable& table) {
  const std::span texts(text_names), labels(label_names);
  const auto is_word = [&](std::size_t i) { return is_among(i, table.words); };
  const auto is_label = [&](std::size_t i) { return !table.codes.contains(i); };
  if (!table.request.target.empty()) {
    const auto label = table.called(lower_case(table.request.target));
    auto text = named_column(table, texts.first(sure_names),
                             [&](std::size_t i) { return i != label && is_word(i); });
    if (!text)
      text = named_column(table, texts,
                          [&](std::size_t i) { return i != label && holds_texts(table, i); });
    return text ? std::optional(TextColumns{*text, *label}) : std::nullopt;
  }
  const auto sure_text = named_column(table, texts.first(sure_names), is_word),
             sure_label = named_column(table, labels.first(sure_names), is_label);
  if (sure_text && sure_label) return TextColumns{*sure_text, *sure_label};
  if (!table.has_header || !table.times.empty()) return std::nullopt;
  auto text = named_column(table, texts, [&](std::size_t i) { return holds_texts(table, i); });
  const auto named_label = named_column(
      table, labels, [&](std::size_t i) { return i != text && holds_labels(table, i); });
  const auto is_measure = [&](std::size_t i) {
    return !is_among(i, table.rising) && !holds_labels(table, i);
  };
  if (!text && !named_label && std::ranges::any_of(table.numbers, is_measure)) return std::nullopt;
  if (!text && !table.words.empty())
    text = *std::ranges::max_element(table.words, {},
                                     [&](std::size_t i) { return table.words_per_cell[i]; });
  if (!text || text == named_label || !holds_texts(table, *text)) return std::nullopt;
  const auto label = named_label ? named_label : column_of_fewest(table, *text);
  return label ? std::optional(TextColumns{*text, *label}) : std::nullopt;
}

}  // namespace bochner
