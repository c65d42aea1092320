#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/conformal/class_calibration.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::uint64_t most_examples = 2000;
constexpr std::size_t examples_at_once = 64;

/// Calls take(probabilities, label) for all examples of a split in order, or for `most` of them,
/// evenly spaced.
template <class Take>
void each_example(const Dataset& data, PredictsClasses& model, Split split, std::uint64_t most,
                  const Take& take) {
  const std::uint64_t all = data.examples(split), n = std::min(all, most);
  for (std::uint64_t first = 0; first < n; first += examples_at_once) {
    Examples some{split, {}};
    for (std::uint64_t i = first; i < std::min<std::uint64_t>(n, first + examples_at_once); ++i)
      some.numbers.push_back({i * all / n});
    const ClassProbabilities answers = model.class_probabilities(some);
    const std::size_t C = answers.values.size() / some.size();
    for (std::size_t i = 0; i < some.size(); ++i)
      take(answers.values.data() + i * C, std::size_t(answers.labels[i]));
  }
}

/// Adds the scores of a split to those of classes of the same names.
void add_scores(Calibration& calibration, const Dataset& data, PredictsClasses& model,
                Split split) {
  const std::vector<std::string> names = model.class_names();
  std::vector<std::size_t> numbers;
  for (const std::string& name : names)
    numbers.push_back(
        std::size_t(std::ranges::find(calibration.classes, name) - calibration.classes.begin()));
  each_example(data, model, split, most_examples,
               [&](const double* probabilities, std::size_t label) {
                 if (numbers[label] < calibration.scores.size())
                   calibration.scores[numbers[label]].push_back(1 - probabilities[label]);
               });
}

/// Fits the model without each fold.
void add_folds(Calibration& calibration, const Config& config) {
  constexpr std::size_t folds = 5;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const Config part =
        with_sets(config, {fmt::format("data.validation={}", 1.0 / double(folds)),
                           fmt::format("train.seed={}", config.count("train.seed") + fold)});
    const auto task = make_task(part);
    task->start();
    add_scores(calibration, task->data(), *task->abilities().classes, Split::validation);
  }
}

/// Sets of classes whose bounds are fixed or adapt.
class ClassSets {
 public:
  ClassSets(const Calibration& calibration, double level)
      : fixed_(class_bounds(calibration, level)) {
    for (const std::vector<double>& scores : calibration.scores)
      adaptive_.emplace_back(scores.empty() ? std::vector<double>{1} : scores, level);
  }

  void add(const double* probabilities, std::size_t label, CoverageReport& report) {
    Coverage &fixed = report.methods[0], &adaptive = report.methods[1],
             &of_class = report.methods[2 + label];
    const double own = 1 - probabilities[label];
    double in_fixed = 0, in_adaptive = 0;
    for (std::size_t k = 0; k < fixed_.size(); ++k) {
      in_fixed += 1 - probabilities[k] <= fixed_[k];
      in_adaptive += 1 - probabilities[k] <= adaptive_[k].bound();
    }
    for (Coverage* coverage : {&fixed, &of_class}) {
      coverage->covered += own <= fixed_[label];
      coverage->width += in_fixed;
      ++coverage->terms;
    }
    adaptive.covered += own <= adaptive_[label].bound();
    adaptive.width += in_adaptive;
    ++adaptive.terms;
    adaptive_[label].observe(own, adaptive_[label].bound());
  }

 private:
  std::vector<double> fixed_;
  std::vector<AdaptiveConformal> adaptive_;
};

}  // namespace

Calibration calibrate_classes(const Config& config, Task& task, PredictsClasses& model) {
  Calibration calibration;
  calibration.classes = model.class_names();
  calibration.scores.resize(calibration.classes.size());
  if (task.data().examples(Split::validation) > 0) {
    add_scores(calibration, task.data(), model, Split::validation);
    return calibration;
  }
  demand(config.period("train.steps").off(),
         "this run has no validation examples to calibrate on; train one with data.validation");
  add_folds(calibration, config);
  return calibration;
}

CoverageReport class_coverage(const Calibration& calibration, Task& task, PredictsClasses& model,
                              Split split, double level) {
  demand(model.class_names() == calibration.classes,
         "--coverage: the data have other classes than the calibration");
  CoverageReport report{"classes", {{"per class"}, {"adaptive"}}};
  for (const std::string& name : calibration.classes) report.methods.push_back({"class " + name});
  ClassSets sets(calibration, level);
  each_example(task.data(), model, split, task.data().examples(split),
               [&](const double* probabilities, std::size_t label) {
                 sets.add(probabilities, label, report);
               });
  demand(report.methods[0].terms > 0, "--coverage: the {} split has no examples", name_of(split));
  return report;
}

NamedArray with_class_sets(const NamedArray& answer, const std::string& prefix,
                           const Calibration& calibration, double level) {
  const std::vector<double> bounds = class_bounds(calibration, level);
  const std::size_t rows = answer.values.shape()[0], width = answer.values.shape()[1],
                    C = bounds.size();
  NamedArray wider = answer;
  wider.values = xt::xarray<double>::from_shape({rows, width + C});
  for (std::size_t row = 0; row < rows; ++row)
    std::copy_n(answer.values.data() + row * width, width, wider.values.data() + row * (width + C));
  for (std::size_t k = 0; k < C; ++k) {
    const std::size_t column = require_column(answer, prefix + calibration.classes[k]);
    for (std::size_t row = 0; row < rows; ++row)
      wider.values(row, width + k) = 1 - answer.values(row, column) <= bounds[k];
    wider.columns.push_back("in_set_" + calibration.classes[k]);
  }
  return wider;
}

}  // namespace bochner
