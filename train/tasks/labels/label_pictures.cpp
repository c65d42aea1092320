#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t most_columns = 4, shown_mistakes = 12;

/// Counts of answers (column) to examples of each class (row).
struct Confusions {
  std::size_t classes;
  std::vector<std::size_t> counts;

  Confusions(std::size_t classes, const std::vector<LabelAnswer>& answers)
      : classes(classes), counts(classes * classes) {
    for (const LabelAnswer& one : answers) ++counts[one.label * classes + one.answer];
  }
  const std::size_t* row(std::size_t label) const { return counts.data() + label * classes; }
  std::size_t examples(std::size_t label) const {
    return std::accumulate(row(label), row(label) + classes, std::size_t(0));
  }
  std::size_t answers(std::size_t label) const {
    std::size_t sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += row(k)[label];
    return sum;
  }
  std::string recall(std::size_t label) const { return share(label, examples(label)); }
  std::string precision(std::size_t label) const { return share(label, answers(label)); }
  /// Returns the wrong answer that is given most often; the class itself if none is.
  std::size_t taken_for(std::size_t label) const {
    std::size_t worst = label;
    for (std::size_t k = 0; k < classes; ++k)
      if (k != label && row(label)[k] > (worst == label ? 0 : row(label)[worst])) worst = k;
    return worst;
  }

 private:
  /// Returns the share of right answers; "" of none.
  std::string share(std::size_t label, std::size_t n) const {
    return n == 0 ? "" : fmt::format("{:.1f} %", 100 * double(row(label)[label]) / double(n));
  }
};

/// Returns the counts of few classes, with recall.
Table small_matrix(const Confusions& all, const std::vector<std::string>& names) {
  Table table{{"class", "recall", "precision"}, {}};
  for (const std::string& name : names) table.headers.push_back("→ " + name);
  for (std::size_t label = 0; label < all.classes; ++label) {
    std::vector<std::string> row = {names[label], all.recall(label), all.precision(label)};
    for (std::size_t k = 0; k < all.classes; ++k) row.push_back(std::to_string(all.row(label)[k]));
    table.rows.push_back(row);
  }
  return table;
}

/// Returns recall, precision and the most frequent wrong answer of many classes.
Table recall_table(const Confusions& all, const std::vector<std::string>& names) {
  Table table{{"class", "examples", "recall", "precision", "taken for"}, {}};
  for (std::size_t label = 0; label < all.classes; ++label) {
    const std::size_t other = all.taken_for(label);
    const std::string wrong =
        other == label ? "" : fmt::format("{} ({})", names[other], all.row(label)[other]);
    table.rows.push_back({names[label], std::to_string(all.examples(label)), all.recall(label),
                          all.precision(label), wrong});
  }
  return table;
}

/// Draws the share of each answer in the examples of each class.
std::string confusion_map(const Confusions& all) {
  HeatMap map{"Answers by class", "answer", "class", all.classes, all.classes};
  map.lowest = 0, map.highest = 1;
  for (std::size_t label = 0; label < all.classes; ++label)
    for (std::size_t k = 0; k < all.classes; ++k)
      map.values.push_back(double(all.row(label)[k]) /
                           double(std::max<std::size_t>(1, all.examples(label))));
  return draw(map);
}

void add_mistakes(Page& page, const std::vector<std::string>& names,
                  std::vector<LabelAnswer> answers) {
  std::erase_if(answers, [](const LabelAnswer& one) { return one.label == one.answer; });
  std::ranges::stable_sort(answers, std::greater(), &LabelAnswer::probability);
  answers.resize(std::min(answers.size(), shown_mistakes));
  if (answers.empty()) return page.paragraph("No answer is wrong.");
  if (answers[0].example.empty()) return;
  page.section("Mistakes", "The wrong answers with the highest probabilities.");
  Table table{{"example", "class", "answer", "probability"}, {}};
  std::vector<std::string> pictures;
  for (const LabelAnswer& one : answers) {
    if (one.picture) pictures.push_back(one.picture());
    table.rows.push_back({one.example, names[one.label], names[one.answer],
                          fmt::format("{:.1f} %", 100 * one.probability)});
  }
  page.table(table);
  if (!pictures.empty()) page.charts(pictures, card_width(heat_map_width));
}

}  // namespace

void add_label_answers(Page& page, const std::vector<std::string>& classes,
                       std::vector<LabelAnswer> answers) {
  if (answers.empty()) return;
  const Confusions all(classes.size(), answers);
  page.section("Answers",
               fmt::format("Answers to {}: recall is the share of the examples of a class that are "
                           "answered so, precision the share of the answers that are right.",
                           format_number_of(answers.size(), "held-out example")));
  const bool are_few = classes.size() <= most_columns;
  if (!are_few) page.charts({confusion_map(all)}, card_width(heat_map_width));
  page.table(are_few ? small_matrix(all, classes) : recall_table(all, classes));
  add_mistakes(page, classes, std::move(answers));
}

}  // namespace bochner
