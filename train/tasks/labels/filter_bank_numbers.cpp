#include <fmt/format.h>

#include <bochner/base/text.hpp>
#include <bochner/train/tasks/labels/filter_bank_task.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Trains on the numbers of series.
class FilterBankOfNumbers : public FilterBankTask {
 public:
  using FilterBankTask::FilterBankTask;

  Evaluation evaluate(Tape&, const Examples& examples) override {
    const LabelledSeriesBatch some = labelled_batch(data_, examples);
    const Tensor predicted = model().outputs(some.series);
    const double deviation = model().numbers().deviation;
    NumberErrors errors;
    for (std::size_t i = 0; i < some.numbers.size(); ++i)
      errors.add(some.numbers[i] - double(predicted.data()[i]));
    return {errors.squares / (deviation > 0 ? deviation * deviation : 1),
            examples.size(),
            learner_.loss_unit(),
            {{"squared_error", "squared error", errors.squares},
             {"absolute_error", "absolute error", errors.absolute}}};
  }

  /// Judges held-out series, or the training series, each of which the head is fitted without, by
  /// the root mean square error.
  Verdict verdict(const HeldOut& held) override {
    const auto [count, mean, deviation, error] = model().numbers();
    const auto shared = [](double score, double of_mean) {
      return fmt::format("R^2 {:.3f}", 1 - score * score / (of_mean * of_mean));
    };
    Verdict verdict{"RMSE",
                    fmt::format("{} series, each left out in turn", count),
                    error,
                    {{"mean", deviation * count / std::max(1.0, count - 1)}}};
    if (judges(held)) {
      verdict.data = format_number_of(data_.examples(held.split), "held-out example");
      verdict.score = std::sqrt(held.evaluate(*this).mean("squared_error"));
      verdict.naive[0].value = errors_of(labelled_batch(data_, held.split).numbers, mean).rmse();
    }
    verdict.remark = shared(verdict.score, verdict.naive[0].value);
    return verdict;
  }

  void illustrate(Page& page) override {
    const Split split = held_out_examples(data_, 1, 0).split;
    const bool has_held = data_.examples(split) > 0 && split != Split::train;
    const LabelledSeriesBatch some = labelled_batch(data_, has_held ? split : Split::train);
    std::vector<double> predicted;
    if (has_held)
      for (const real y : model().outputs(some.series)) predicted.push_back(double(y));
    else
      predicted = model().fit_head(some.series, some.numbers);
    add_number_answers(page, predicted, some.numbers);
  }

 protected:
  void fit_head(const LabelledSeriesBatch& batch) override {
    model().fit_head(batch.series, batch.numbers);
  }
  Var loss_of(Tape& tape, const LabelledSeriesBatch& batch) override {
    return model().loss(tape, batch.series, batch.numbers);
  }
};

}  // namespace

std::unique_ptr<Task> open_filter_bank_of_numbers(const Config& config, const KnownFacts& known) {
  return std::make_unique<FilterBankOfNumbers>(config, known);
}

}  // namespace bochner
