#include <bochner/train/config/config.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/conformal/calibrate.hpp>
#include <bochner/train/tasks/conformal/class_calibration.hpp>

namespace bochner {
namespace {

[[noreturn]] void refuse(Task& task) {
  throw std::invalid_argument(
      "intervals and p-values apply to forecasters, ensembles of series, classifiers and events, "
      "not to this model: " +
      task.learner().describe());
}

}  // namespace

Calibration calibrate(const Config& config, Task& task) {
  const TaskAbilities can = task.abilities();
  if (can.calibrates) return can.calibrates->calibrate();
  if (can.classes) return calibrate_classes(config, task, *can.classes);
  refuse(task);
}

bool calibrates_quickly(const Config& config, Task& task) {
  const TaskAbilities can = task.abilities();
  const bool has_examples = task.data().examples(Split::validation) > 0;
  const bool holds_out_its_own = config.text("model.kind") == "ensemble";
  return can.calibrates ? has_examples || holds_out_its_own : can.classes && has_examples;
}

CoverageReport coverage_of(const Calibration& calibration, Task& task, Split split, double level,
                           std::size_t stride) {
  const TaskAbilities can = task.abilities();
  if (can.calibrates) return can.calibrates->coverage(calibration, split, level, stride);
  if (can.classes) {
    demand(stride <= 1, "--stride applies to series; remove it");
    return class_coverage(calibration, task, *can.classes, split, level);
  }
  refuse(task);
}

}  // namespace bochner
