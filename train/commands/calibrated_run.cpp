#include <algorithm>
#include <bochner/train/commands/calibrated_run.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/tasks/conformal/calibrate.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {
namespace {

/// Returns the calibration file of a run; nothing if live weights or other held-out data are asked
/// for.
std::optional<Path> calibration_file(const ModelOptions& options) {
  const bool others = std::ranges::any_of(options.sets, [](const std::string& set) {
    return set.starts_with("data.files") || set.starts_with("data.splits") ||
           set.starts_with("data.validation");
  });
  if (options.live_weights || others) return std::nullopt;
  return parse_run_reference(options.run).directory / calibration_name;
}

std::optional<Calibration> stored_calibration(const LoadedRun& run, const ModelOptions& options) {
  PosixStorage storage;
  const auto found = calibration_file(options);
  if (!found || !storage.exists(*found)) return std::nullopt;
  const Path& file = *found;
  try {
    auto calibration = decode_facts<Calibration>(read_file(storage, file));
    if (calibration.step == run.checkpoint.state().step) return calibration;
  } catch (const DataError& error) {
    throw DataError(file.string(), ": ", error.what(), "; remove it to calibrate again");
  }
  return std::nullopt;
}

/// Keeps the calibration of the last checkpoint in its run, unless that is in use or read-only.
void keep(const Calibration& calibration, const ModelOptions& options) {
  PosixStorage storage;
  const RunReference run = parse_run_reference(options.run);
  const auto file = calibration_file(options);
  if (!file || !options.sets.empty() || !run.checkpoint.empty() ||
      !RunDirectory::in_use(storage, run.directory).empty())
    return;
  try {
    commit_file(storage, *file, encode_facts(calibration));
  } catch (const IoError&) {
    // The next prediction computes it again.
  }
}

}  // namespace

Calibration calibration_of(const LoadedRun& run, const ModelOptions& options) {
  if (auto stored = stored_calibration(run, options)) return std::move(*stored);
  try {
    ModelOptions quiet = options;
    quiet.notes_changes = false;
    const LoadedTask loaded = load_task(quiet);
    Calibration calibration = calibrate(loaded.config, *loaded.task);
    calibration.step = run.checkpoint.state().step;
    keep(calibration, options);
    return calibration;
  } catch (const IoError& error) {
    throw IoError(std::string(error.what()) +
                  "; this checkpoint is calibrated on held-out data of its run: name them with "
                  "--set data.files=...");
  }
}

void require_level(double level) {
  demand(level > 0 && level < 1, "--coverage {}: must be a probability above 0 and below 1", level);
}

}  // namespace bochner
