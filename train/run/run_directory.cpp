#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <charconv>

namespace bochner {
namespace {

constexpr std::uint64_t probe_bytes = 64 * 1024;

std::string checkpoint_name(std::uint64_t step) { return fmt::format("step-{:012}.ckpt", step); }

/// Returns the step of "step-000000001000.ckpt"; nothing for any other name.
std::optional<std::uint64_t> step_of(const std::string& name) {
  constexpr std::string_view prefix = "step-";
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint64_t step = 0;
  std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  return checkpoint_name(step) == name ? std::optional(step) : std::nullopt;
}

std::string steps_in_words(const std::vector<std::uint64_t>& steps) {
  if (steps.empty()) return "there are no checkpoints yet";
  return fmt::format("there are steps {}", joined(steps, " "));
}

/// Whether a run without a checkpoint, or an interrupted creation, may leave such a file.
bool may_be_in_a_fresh_directory(const std::string& name) {
  return name == lock_name || name == meta_name || name == metrics_name || name == config_name ||
         name == tokenizer_name || name == "checkpoints" || is_live_log(name) ||
         is_temporary_name(name);
}

void require_run(FileStorage& storage, const Path& path) {
  if (!storage.exists(path / config_name))
    throw std::invalid_argument(in_words(path.string(), ": not a run (", config_name,
                                         " is missing); give the directory of a run"));
  if (storage.exists(path / meta_name))
    require_format(read_file(storage, path / meta_name), path.string());
}

}  // namespace

// Normalizes: "runs/new/" is the same directory as "runs/new", but has another parent and no name.
RunDirectory::RunDirectory(FileStorage& storage, const Path& path)
    : storage_(&storage), path_(path.has_filename() ? path : path.parent_path()) {}

Config with_own_tokenizer(Config config, const Path& directory) {
  const std::string key = "data.tokenizer.model";
  if (!config.text(key).empty())
    config.set(key, std::filesystem::absolute(directory / tokenizer_name).string(),
               config.location(key));
  return config;
}

RunDirectory RunDirectory::create(FileStorage& storage, const Path& directory,
                                  const std::string& config, const std::string& meta,
                                  const std::string& tokenizer) {
  RunDirectory run(storage, directory);
  const Path& path = run.path();
  make_directories(storage, path);
  run.refuse_unless_fresh();
  run.lock_ = storage.lock(run.path_ / lock_name);
  run.refuse_unless_fresh();
  // First, because this file makes the directory a run: never the old config with new files.
  if (storage.exists(path / config_name)) {
    storage.unlink(path / config_name);
    storage.sync_directory(path);
  }
  make_directories(storage, run.checkpoints());
  run.remove_temporaries();
  for (const std::string& name : storage.list(path))
    if (is_live_log(name) || name == tokenizer_name) storage.unlink(path / name);
  run.preflight(probe_bytes);
  run.metrics_ = std::make_unique<MetricsFile>(storage, path / metrics_name);
  run.metrics_->rewind(0);
  commit_file(storage, path / meta_name, meta);
  if (!tokenizer.empty()) commit_file(storage, path / tokenizer_name, tokenizer);
  // An interrupted creation may have left directories without durable names.
  storage.sync_directory(path.parent_path());
  // Last, for the same reason.
  commit_file(storage, path / config_name, config);
  return run;
}

void RunDirectory::require_fresh(FileStorage& storage, const Path& path) {
  const RunDirectory run(storage, path);
  if (storage.exists(run.path_)) run.refuse_unless_fresh();
}

RunDirectory RunDirectory::open(FileStorage& storage, const Path& path) {
  require_run(storage, path);
  RunDirectory run(storage, path);
  run.lock_ = storage.lock(run.path_ / lock_name);
  run.remove_temporaries();
  run.preflight(probe_bytes);
  run.metrics_ = std::make_unique<MetricsFile>(storage, path / metrics_name);
  return run;
}

RunDirectory RunDirectory::read(FileStorage& storage, const Path& path) {
  require_run(storage, path);
  return RunDirectory(storage, path);
}

/// Whether there is more than a config without training; a lone config.toml is not a run's.
bool RunDirectory::has_progress() const {
  if (!storage_->exists(path_ / meta_name) || !storage_->exists(checkpoints())) return true;
  const std::vector<std::string> names = storage_->list(checkpoints());
  return !std::all_of(names.begin(), names.end(), is_temporary_name);
}

void RunDirectory::refuse_unless_fresh() const {
  if (storage_->exists(path_ / config_name) && has_progress())
    throw std::invalid_argument(path_.string() +
                                ": already holds a run; continue it with: bochner resume " +
                                shell_word(path_.string()) + ", or choose another directory");
  std::vector<std::string> names = storage_->list(path_);
  if (storage_->exists(checkpoints())) {
    const std::vector<std::string> inner = storage_->list(checkpoints());
    names.insert(names.end(), inner.begin(), inner.end());
  }
  const auto foreign = std::ranges::find_if_not(names, may_be_in_a_fresh_directory);
  if (foreign != names.end())
    throw std::invalid_argument(path_.string() + ": is not empty (" + *foreign +
                                "); choose another directory");
}

void RunDirectory::remove_temporaries() {
  for (const Path& directory : {path_, checkpoints()})
    for (const std::string& name : storage_->list(directory))
      if (is_abandoned(name)) storage_->unlink(directory / name);
}

void RunDirectory::preflight(std::uint64_t bytes) {
  const Path probe = checkpoints() / (std::string("probe") + temporary_suffix);
  commit_file(*storage_, probe, [&](StoredFile& file) {
    const std::string piece(std::min(bytes, probe_bytes), 'p');
    for (std::uint64_t left = bytes; left > 0;) {
      const std::uint64_t count = std::min<std::uint64_t>(left, piece.size());
      file.append(piece.data(), count);
      left -= count;
    }
  });
  storage_->unlink(probe);
}

Path RunDirectory::checkpoint_path(std::uint64_t step) const {
  return checkpoints() / checkpoint_name(step);
}

std::vector<std::uint64_t> RunDirectory::list_checkpoints() const {
  std::vector<std::uint64_t> steps;
  for (const std::string& name : storage_->list(checkpoints()))
    if (const auto step = step_of(name)) steps.push_back(*step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::optional<CheckpointReader> RunDirectory::newest_valid(std::vector<std::string>& skipped) {
  std::vector<std::string> problems;
  std::vector<std::uint64_t> steps = list_checkpoints();
  while (problems.size() < steps.size()) {
    const std::uint64_t step = steps[steps.size() - 1 - problems.size()];
    try {
      CheckpointReader reader = load_step(step);
      skipped.insert(skipped.end(), problems.begin(), problems.end());
      return reader;
    } catch (const std::runtime_error& error) {  // DataError or IoError
      problems.push_back(error.what());
    }
    if (storage_->exists(checkpoint_path(step))) {
      damaged_.insert(step);
    } else {  // removed by a trainer that has saved a newer one
      steps = list_checkpoints();
      problems.clear();
    }
  }
  if (steps.empty()) return std::nullopt;
  throw DataError(path_.string(), ": none of ", steps.size(),
                  " checkpoints is intact; the newest: ", problems.front());
}

CheckpointReader RunDirectory::load_step(std::uint64_t step) const {
  const Path file = checkpoint_path(step);
  if (!storage_->exists(file))
    throw DataError(path_.string(), ": no checkpoint of step ", step, "; ",
                    steps_in_words(list_checkpoints()));
  CheckpointReader reader(*storage_, file);
  if (reader.state().step != step)
    throw DataError(file.string(), ": holds step ", reader.state().step,
                    ", not the step of its name; was it renamed?");
  return reader;
}

CheckpointReader RunDirectory::load_best() {
  std::vector<std::string> skipped;
  const auto newest = newest_valid(skipped);
  if (!newest || newest->state().best.empty())
    throw DataError(path_.string(), ": no best checkpoint: nothing was validated before a save; ",
                    steps_in_words(list_checkpoints()));
  // A full disk may have prevented the save of a best step.
  for (const BestCheckpoint& best : newest->state().best) {
    if (!storage_->exists(checkpoint_path(best.step))) continue;
    try {
      return load_step(best.step);
    } catch (const DataError&) {
      if (storage_->exists(checkpoint_path(best.step))) throw;
      return load_best();  // a trainer has found a better one and removed this
    }
  }
  const auto now = newest_valid(skipped);
  if (now && now->state().step != newest->state().step) return load_best();  // of a trainer
  throw DataError(path_.string(), ": the checkpoint of the best step ",
                  newest->state().best.front().step, " was not kept; ",
                  steps_in_words(list_checkpoints()));
}

MetricsFile& RunDirectory::metrics() {
  require(metrics_ != nullptr, "run", path_.string(), " is open for reading only");
  lock_->require_held();
  return *metrics_;
}

Path RunDirectory::save(const CheckpointContent& content) {
  require(content.state.metrics_bytes == metrics().bytes(), "run", "the checkpoint says ",
          content.state.metrics_bytes, " bytes of metrics, there are ", metrics().bytes());
  metrics().sync();
  const Path file = checkpoint_path(content.state.step);
  commit_file(*storage_, file, [&](StoredFile& out) { write_checkpoint(out, content); });
  damaged_.erase(content.state.step);
  return file;
}

std::string RunDirectory::retain(const TrainerState& state, const Retention& policy) try {
  std::vector<std::uint64_t> steps = list_checkpoints();
  std::erase_if(steps, [&](std::uint64_t step) { return damaged_.contains(step); });
  std::set<std::uint64_t> kept{state.step};
  const std::size_t last = std::min(policy.keep_last, steps.size());
  kept.insert(steps.end() - std::ptrdiff_t(last), steps.end());
  const std::size_t best = std::min(policy.keep_best, state.best.size());
  for (std::size_t i = 0; i < best; ++i) kept.insert(state.best[i].step);
  std::string problem;
  for (const std::uint64_t step : steps) {
    try {
      if (!kept.contains(step)) storage_->unlink(checkpoint_path(step));
    } catch (const IoError& error) {
      if (problem.empty()) problem = error.what();
    }
  }
  return problem;
} catch (const IoError& error) {
  return error.what();
}

RunReference parse_run_reference(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || std::filesystem::exists(text)) return {text, ""};
  const std::string checkpoint = text.substr(at + 1);
  if (checkpoint != "best" && !parse_count(checkpoint))
    throw std::invalid_argument(text + ": after @ must come \"best\" or a step");
  return {text.substr(0, at), checkpoint};
}

CheckpointReader open_checkpoint(FileStorage& storage, const RunReference& reference,
                                 std::vector<std::string>& skipped) {
  RunDirectory run = RunDirectory::read(storage, reference.directory);
  if (reference.checkpoint == "best") return run.load_best();
  if (!reference.checkpoint.empty())
    return run.load_step(parse_count(reference.checkpoint).value());
  std::optional<CheckpointReader> newest = run.newest_valid(skipped);
  if (!newest)
    throw DataError(reference.directory.string(), ": no checkpoint yet; resume the run first");
  return std::move(*newest);
}

}  // namespace bochner
