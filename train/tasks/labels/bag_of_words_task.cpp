#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/text/terms.hpp>
#include <bochner/layers/models/bag_of_words.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>
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
  Indices labels(Split split) const;

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

Indices BagOfWordsTask::labels(Split split) const {
  Indices all;
  for (std::uint64_t i = 0; i < texts_->examples(split); ++i)
    all.values.push_back(texts_->label(split, i));
  return all;
}

Verdict BagOfWordsTask::verdict(const HeldOut& held) {
  const std::size_t C = learner_.known().classes;
  if (held.evaluation) return class_verdict(labels(held.split), C, *held.evaluation);
  const Indices all = labels(Split::train);
  Evaluation answers{0, all.values.size(), "nats", {{"accuracy", "right", 0, true}}};
  for (std::size_t i = 0; i < all.values.size(); ++i)
    answers.measures[0].sum += learner_.model().held_out(i).label == all.values[i];
  Verdict verdict = class_verdict(all, C, answers);
  verdict.data =
      fmt::format("{} in {}-fold cross-validation", format_number_of(all.values.size(), "text"),
                  learner_.model().spec().folds);
  return verdict;
}

/// Returns the beginning of a text.
std::string front_of(std::string_view text) {
  std::size_t bytes = std::min<std::size_t>(text.size(), 240);
  while (bytes < text.size() && continues_character(text[bytes])) ++bytes;
  std::string front(text.substr(0, bytes));
  std::ranges::replace(front, '\n', ' ');
  return printable(front) + (bytes < text.size() ? "..." : "");
}

/// Shows the answers to training texts, each by a fit to other texts.
void BagOfWordsTask::illustrate(Page& page) {
  std::vector<LabelAnswer> answers;
  for (std::uint64_t i = 0; i < texts_->examples(Split::train); ++i) {
    const HeldOutAnswer held = learner_.model().held_out(i);
    answers.push_back({std::size_t(texts_->label(Split::train, i)), std::size_t(held.label),
                       held.probability, front_of(texts_->text(Split::train, i))});
  }
  add_label_answers(page, texts_->class_names(), std::move(answers));
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
