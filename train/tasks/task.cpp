#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

namespace bochner {

Evaluation& Evaluation::operator+=(const Evaluation& part) {
  if (terms == 0) return *this = part;
  require(measures.size() == part.measures.size(), "evaluation", "parts have ", measures.size(),
          " and ", part.measures.size(), " measures");
  loss_sum += part.loss_sum;
  terms += part.terms;
  for (std::size_t i = 0; i < measures.size(); ++i) {
    measures[i].sum += part.measures[i].sum;
    measures[i].terms += part.measures[i].terms;
  }
  return *this;
}

double Evaluation::mean(std::string_view name) const {
  const auto found = std::ranges::find(measures, name, &Measure::name);
  require(found != measures.end(), "evaluation", "no measure is named ", name);
  return mean(*found);
}

std::string Evaluation::words() const {
  std::string words = fmt::format("{:.4f} {}", loss(), unit);
  for (const Measure& measure : measures) {
    if (measure.unit == unit) continue;  // the loss itself
    words += measure.percent ? fmt::format("   {:.2f} % {}", 100 * mean(measure), measure.unit)
                             : fmt::format("   {:.4f} {}", mean(measure), measure.unit);
  }
  return words;
}

Json Evaluation::json(std::string_view loss_name) const {
  Json json = Json().set(loss_name, loss());
  for (const Measure& measure : measures) json.set(measure.name, mean(measure));
  return json;
}

std::uint64_t right_answers(const Var& scores, const Indices& labels) {
  const std::size_t V = scores.dim(-1);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (labels.values[i] < 0) continue;
    const real* row = scores.data() + i * V;
    right += std::max_element(row, row + V) - row == labels.values[i];
  }
  return right;
}

ClassProbabilities probabilities_of(const Tensor& logits, const Indices& labels) {
  Tape tape({.recording = false});
  const Var each = softmax(tape.constant(logits));
  return {{each.data(), each.data() + each.size()}, labels.values};
}

Evaluation evaluate_answers(const Var& logits, const Indices& labels) {
  const double mean = double(cross_entropy(logits, labels).value().data()[0]);
  const std::vector<std::int32_t>& all = labels.values;
  const auto asked = all.size() - std::uint64_t(std::count(all.begin(), all.end(), -1));
  const double right = double(right_answers(logits, labels));
  return {mean * double(asked), asked, "nats", {{"accuracy", "right", right, true}}};
}

Verdict class_verdict(const Indices& labels, std::size_t classes, const Evaluation& evaluation) {
  std::vector<double> counts(classes);
  for (const std::int32_t label : labels.values) ++counts[std::size_t(label)];
  return {"accuracy",
          format_number_of(evaluation.terms, "held-out example"),
          evaluation.mean("accuracy"),
          {most_frequent_class(counts)},
          true};
}

std::vector<std::string> find_shifted(const std::vector<std::string>& columns,
                                      const UnitsOfColumns& of_model, const UnitsOfColumns& here) {
  constexpr double far = 3;
  std::vector<std::string> shifted;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double unit = of_model.deviation[i] > 0 ? of_model.deviation[i] : 1,
                 other = here.deviation[i] > 0 ? here.deviation[i] : 1;
    const double distance = std::abs(here.mean[i] - of_model.mean[i]) / unit;
    if (distance <= far && other <= far * unit && unit <= far * other) continue;
    shifted.push_back(fmt::format("{} (mean {:.4g}, deviation {:.4g}; here {:.4g}, {:.4g})",
                                  columns[i], of_model.mean[i], unit, here.mean[i], other));
  }
  return shifted;
}

TakenBatches HeldOut::taken(const Dataset& data) const {
  return batches_taken(data, split, batch, limit);
}

Evaluation HeldOut::evaluate(Task& task) const {
  return evaluation ? *evaluation : *evaluate_task(task, split, batch, limit);
}

HeldOut held_out_examples(const Dataset& data, std::size_t batch, std::uint64_t limit) {
  return {data.examples(Split::test) > 0 ? Split::test : Split::validation, batch, limit};
}

NamedArrays Task::arrays(const Examples&) {
  throw std::invalid_argument("cannot export examples of this model: " + learner().describe());
}

void UsesCalibration::cover(double) {
  throw std::invalid_argument("--coverage applies to models of series and of classes");
}
NamedArray UsesCalibration::anomalies(const NamedArray&) {
  throw std::invalid_argument("--anomaly applies to models of series and of events");
}
NamedArray UsesCalibration::impute(const NamedArray&) {
  throw std::invalid_argument("--impute applies to forecasters and ensembles of series");
}

Json Learner::sizes() const { return Json(std::initializer_list<Json::Member>{}); }

TakenBatches batches_taken(const Dataset& data, Split split, std::size_t batch,
                           std::uint64_t limit) {
  const std::uint64_t all = data.batches(split, batch);
  return {limit > 0 ? std::min(all, limit) : all, all};
}

TakenBatches evaluated_batches(const Dataset& data, Split split, std::size_t batch,
                               std::uint64_t limit) {
  const TakenBatches taken = batches_taken(data, split, batch, limit);
  require(taken.count > 0, "evaluation", "the config keeps no ", name_of(split), " data; set ",
          split == Split::validation ? "data.validation, data.validation_examples or data.splits"
                                     : "data.test_examples of generated data, or data.splits");
  return taken;
}

std::optional<Evaluation> evaluate_batches(Task& task, Split split, std::size_t batch,
                                           const TakenBatches& taken, std::uint64_t first,
                                           std::uint64_t last,
                                           const std::function<bool()>& should_stop) {
  Evaluation total;
  for (std::uint64_t k = first; k < last; ++k) {
    Tape tape({.recording = false});
    total += task.evaluate(tape, task.data().part(split, taken.index(k), batch));
    if (should_stop && should_stop()) return std::nullopt;
  }
  return total;
}

std::optional<Evaluation> evaluate_task(Task& task, Split split, std::size_t batch,
                                        std::uint64_t limit,
                                        const std::function<bool()>& should_stop) {
  const TakenBatches taken = evaluated_batches(task.data(), split, batch, limit);
  return evaluate_batches(task, split, batch, taken, 0, taken.count, should_stop);
}

Evaluation evaluate_all(Task& task, Split split, std::size_t batch) {
  Evaluation total = *evaluate_task(task, split, batch);
  const Examples rest = task.data().rest(split);
  Tape tape({.recording = false});
  if (rest.size() > 0) total += task.evaluate(tape, rest);
  return total;
}

}  // namespace bochner
