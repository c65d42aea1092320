#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/text/terms.hpp>
#include <bochner/layers/models/bag_of_words.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t most_bytes = 1 << 20;  // of a text

BagOfWordsSpec bag_of_words_spec(const Config& config, const LabelFacts& facts) {
  auto spec = read_spec<BagOfWordsSpec>(config, "model");
  spec.terms = facts.vocabulary;
  spec.classes = facts.classes;
  spec.texts = facts.examples;
  return spec;
}

/// Says which class a text has, by its words.
class BagOfWordsLearner : public Learner, public AnswersTexts {
 public:
  BagOfWordsLearner(const Config& config, LabelFacts facts)
      : facts_(std::move(facts)),
        model_(bag_of_words_spec(config, facts_)),
        numbers_(facts_.types, model_.spec().longest) {}

  BagOfWords& model() override { return model_; }
  const LabelFacts& known() const { return facts_; }
  std::string facts() const override { return encode_facts(facts_); }
  std::string describe() const override {
    return fmt::format("bag of {} words{}, {} labels", facts_.vocabulary,
                       model_.spec().longest > 1 ? " and runs of words" : "", facts_.classes);
  }
  LearnerAbilities abilities() override { return {.texts = this}; }

  /// Returns the likeliest class of each text and the probability of each.
  NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t) override {
    const std::size_t C = facts_.classes;
    const std::vector<double> each = model_.probabilities(terms_of_texts(texts));
    NamedArray result{{}, {"text", "class"}};
    result.values.resize({texts.size(), 2 + C});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto row = each.begin() + std::ptrdiff_t(i * C), end = row + std::ptrdiff_t(C);
      result.values(i, 0) = double(i);
      result.values(i, 1) = double(std::max_element(row, end) - row);
      std::copy(row, end, result.values.data() + i * (2 + C) + 2);
    }
    for (const std::string& label : facts_.labels) result.columns.push_back("class_" + label);
    result.texts[1] = facts_.labels;
    return result;
  }

  TermSets terms_of_texts(const std::vector<std::string>& texts) const {
    TermSets sets;
    for (const std::string& text : texts) sets.add(numbers_.in(text));
    return sets;
  }

  void illustrate(Page& page) override;

 private:
  LabelFacts facts_;
  BagOfWords model_;
  TermNumbers numbers_;
};

void BagOfWordsLearner::illustrate(Page& page) {
  constexpr std::size_t shown_terms = 30, most_classes = 50;
  constexpr double least = 0.05;
  page.section("Words that decide",
               "The terms that add the most to the score of each class, and how much.");
  std::vector<std::size_t> order(facts_.vocabulary);
  for (std::size_t c = 0; c < std::min<std::size_t>(facts_.classes, most_classes); ++c) {
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto end = order.begin() + std::ptrdiff_t(std::min(shown_terms, order.size()));
    std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
      const double one = model_.effect(a, c), other = model_.effect(b, c);
      return one != other ? one > other : a < b;
    });
    std::string words;
    for (auto term = order.begin(); term != end && model_.effect(*term, c) > least; ++term)
      words += fmt::format("{}{} {:.1f}", words.empty() ? ": " : ", ", facts_.types[*term],
                           model_.effect(*term, c));
    page.paragraph(facts_.labels[c] + words);
  }
}

/// Answers to all training texts, each by a fit to other texts.
struct Confusion {
  std::size_t classes;
  std::vector<double> counts;  ///< (C, C): of texts by label and answer

  double of(std::size_t label) const {
    const auto row = counts.begin() + std::ptrdiff_t(label * classes);
    return std::accumulate(row, row + std::ptrdiff_t(classes), 0.0);
  }
  double answered(std::size_t label) const {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += counts[c * classes + label];
    return sum;
  }
  double right(std::size_t label) const { return counts[label * classes + label]; }
  std::size_t most_frequent() const {
    std::size_t most = 0;
    for (std::size_t c = 1; c < classes; ++c)
      if (of(c) > of(most)) most = c;
    return most;
  }
};

/// Fits a bag of words to texts at once, before the first step; there are none.
class BagOfWordsTask : public Task, public PredictsClasses {
 public:
  BagOfWordsTask(const Config& config, const KnownFacts& known)
      : texts_(opened(config, known)), learner_(config, facts_of_texts(config, known)) {}

  BagOfWordsLearner& learner() override { return learner_; }
  const Dataset& data() const override { return *texts_; }
  TaskAbilities abilities() override { return {.classes = this}; }

  std::vector<std::string> class_names() const override { return learner_.known().labels; }
  ClassProbabilities class_probabilities(const Examples& examples) override {
    ClassProbabilities answers;
    std::vector<std::string> texts;
    for (const auto& each : examples.numbers) {
      texts.push_back(texts_->text(examples.split, each.index));
      answers.labels.push_back(texts_->label(examples.split, each.index));
    }
    answers.values = learner_.model().probabilities(learner_.terms_of_texts(texts));
    return answers;
  }

  void start() override {
    std::vector<std::string> texts;
    std::vector<std::int32_t> labels;
    for (std::uint64_t i = 0; i < texts_->examples(Split::train); ++i) {
      texts.push_back(texts_->text(Split::train, i));
      labels.push_back(texts_->label(Split::train, i));
    }
    learner_.model().fit(learner_.terms_of_texts(texts), labels);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    return tape.constant(filled({}, real(evaluate(tape, examples).loss())));
  }

  Evaluation evaluate(Tape&, const Examples& examples) override {
    std::vector<std::string> texts;
    for (const auto& each : examples.numbers)
      texts.push_back(texts_->text(examples.split, each.index));
    const std::size_t C = learner_.known().classes;
    const auto each = learner_.model().probabilities(learner_.terms_of_texts(texts));
    Evaluation result{0, examples.size(), "nats", {{"accuracy", "right", 0, true}}};
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto label = std::size_t(texts_->label(examples.split, examples.index(i)));
      const auto row = each.begin() + std::ptrdiff_t(i * C);
      result.loss_sum -= std::log(row[std::ptrdiff_t(label)]);
      result.measures[0].sum +=
          std::max_element(row, row + std::ptrdiff_t(C)) - row == std::ptrdiff_t(label);
    }
    return result;
  }

  /// Judges all texts in cross-validation, or held-out ones.
  Verdict verdict(const HeldOut& held) override;
  void illustrate(Page& page) override;

 private:
  static std::unique_ptr<LabelledTexts> opened(const Config& config, const KnownFacts& known) {
    LabelledTextsSpec spec{.length = most_bytes,
                           .validation = config.number("data.validation"),
                           .seed = config.count("train.seed")};
    return labelled_texts(config, spec, known.of<LabelFacts>().labels);
  }

  LabelFacts facts_of_texts(const Config& config, const KnownFacts& known) const;
  Confusion confusion();
  Verdict verdict_of_labels(const HeldOut& held);
  void add_mistakes(Page& page);

  std::unique_ptr<LabelledTexts> texts_;
  BagOfWordsLearner learner_;
};

LabelFacts BagOfWordsTask::facts_of_texts(const Config& config, const KnownFacts& known) const {
  const std::uint64_t count = texts_->examples(Split::train);
  if (known.are_exact()) {
    LabelFacts learned = known.of<LabelFacts>();
    require_known_names("label", learned.labels, texts_->class_names());
    return learned;
  }
  LabelFacts facts{.classes = texts_->classes(),
                   .length = most_bytes,
                   .labels = texts_->class_names(),
                   .examples = count};
  const BagOfWordsSpec spec = bag_of_words_spec(config, facts);
  std::vector<std::string_view> texts;
  for (std::uint64_t i = 0; i < count; ++i) texts.push_back(texts_->text(Split::train, i));
  facts.types = frequent_terms(texts, spec.longest, spec.most_terms());
  if (facts.types.empty())
    throw DataError("data.files: the texts have no words, or share too few for model.vocabulary");
  facts.vocabulary = facts.types.size();
  return facts;
}

Confusion BagOfWordsTask::confusion() {
  const std::size_t C = learner_.known().classes;
  Confusion all{C, std::vector<double>(C * C)};
  for (std::uint64_t i = 0; i < texts_->examples(Split::train); ++i) {
    const auto label = std::size_t(texts_->label(Split::train, i));
    ++all.counts[label * C + std::size_t(learner_.model().held_out(i).label)];
  }
  return all;
}

Verdict BagOfWordsTask::verdict(const HeldOut& held) {
  if (held.evaluation) return verdict_of_labels(held);
  const Confusion all = confusion();
  double right = 0;
  for (std::size_t c = 0; c < all.classes; ++c) right += all.right(c);
  const std::uint64_t texts = texts_->examples(Split::train);
  return {"accuracy",
          fmt::format("{} in {}-fold cross-validation", format_number_of(texts, "text"),
                      learner_.model().spec().folds),
          right / double(texts),
          {{"most frequent label", all.of(all.most_frequent()) / double(texts)}},
          true};
}

Verdict BagOfWordsTask::verdict_of_labels(const HeldOut& held) {
  const std::uint64_t texts = texts_->examples(held.split);
  std::vector<double> counts(learner_.known().classes);
  for (std::uint64_t i = 0; i < texts; ++i) ++counts[std::size_t(texts_->label(held.split, i))];
  return {"accuracy",
          format_number_of(texts, "held-out example"),
          held.evaluate(*this).mean("accuracy"),
          {{"most frequent label", *std::ranges::max_element(counts) / double(texts)}},
          true};
}

/// Draws counts by label and answer, the most frequent labels if there are many, and lists how many
/// texts of each label and of each answer are right.
void add_confusion(Page& page, const Confusion& all, const std::vector<std::string>& labels) {
  constexpr std::size_t most_drawn = 30;
  page.section("Right and wrong",
               "Answers to held-out texts: recall is the share of the texts of a label that are "
               "answered so, precision the share of the answers that are right.");
  if (all.classes <= most_drawn) {
    HeatMap map{.title = "texts by label and answer",
                .x_label = "answer, in the order of the table",
                .y_label = "label",
                .rows = all.classes,
                .columns = all.classes,
                .values = all.counts,
                .lowest = 0.0};
    page.charts({draw(map)}, card_width(heat_map_width));
  }
  Table table{{"label", "texts", "right", "recall", "precision", "taken for"}, {}};
  for (std::size_t c = 0; c < all.classes; ++c) {
    std::size_t other = c == 0 ? 1 : 0;
    for (std::size_t k = 0; k < all.classes; ++k)
      if (k != c && all.counts[c * all.classes + k] > all.counts[c * all.classes + other])
        other = k;
    const double wrong = all.counts[c * all.classes + other];
    const auto share = [&](double of) {
      return of > 0 ? fmt::format("{:.1f} %", 100 * all.right(c) / of) : "";
    };
    table.rows.push_back({labels[c], fmt::format("{}", all.of(c)), fmt::format("{}", all.right(c)),
                          share(all.of(c)), share(all.answered(c)),
                          wrong > 0 ? fmt::format("{} ({})", labels[other], wrong) : ""});
  }
  page.table(table);
}

/// Returns the beginning of a text.
std::string front_of(std::string_view text) {
  std::size_t bytes = std::min<std::size_t>(text.size(), 240);
  while (bytes < text.size() && continues_character(text[bytes])) ++bytes;
  std::string front(text.substr(0, bytes));
  std::ranges::replace(front, '\n', ' ');
  return printable(front) + (bytes < text.size() ? "..." : "");
}

void BagOfWordsTask::add_mistakes(Page& page) {
  constexpr std::size_t most_shown = 20;
  struct Mistake {
    std::uint64_t text;
    HeldOutAnswer answer;
  };
  std::vector<Mistake> mistakes;
  for (std::uint64_t i = 0; i < texts_->examples(Split::train); ++i)
    if (const HeldOutAnswer answer = learner_.model().held_out(i);
        answer.label != texts_->label(Split::train, i))
      mistakes.push_back({i, answer});
  std::ranges::stable_sort(mistakes, std::greater(),
                           [](const Mistake& each) { return each.answer.probability; });
  mistakes.resize(std::min(most_shown, mistakes.size()));
  if (mistakes.empty()) return;
  page.section("Mistakes",
               "The wrong answers to held-out texts that were surest, and their probabilities.");
  const std::vector<std::string>& labels = texts_->class_names();
  for (const auto& [text, answer] : mistakes)
    page.paragraph(fmt::format("{}, taken for {} ({:.2f}): {}",
                               labels[std::size_t(texts_->label(Split::train, text))],
                               labels[std::size_t(answer.label)], answer.probability,
                               front_of(texts_->text(Split::train, text))));
}

void BagOfWordsTask::illustrate(Page& page) {
  const Confusion all = confusion();
  add_confusion(page, all, texts_->class_names());
  add_mistakes(page);
}

/// Returns facts for a model without data.
LabelFacts assumed_text_facts(const Config&) { return {.examples = 2}; }

}  // namespace

const char bag_of_words_template[] =
    R"(# A classifier of texts by their words and pairs of words. See docs/tasks.md.

[model]
kind = "bag_of_words"         # in any order; bochner init classifier has models of the order

[data]
kind = "texts"
files = [{files}]
{columns}validation = 0                # fit to all texts; cross-validation holds out its own

[train]
steps = 0                     # fitted at once
)";

void add_bag_of_words_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "bag_of_words", open_as<BagOfWordsTask>,
                      learn_as<BagOfWordsLearner, assumed_text_facts>};
  add("texts", validation_fraction, check_fitted_at_once, text_options);
}

}  // namespace bochner
