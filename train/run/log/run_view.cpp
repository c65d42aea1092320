#include <algorithm>
#include <bochner/train/config/config.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/log/run_view.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <optional>

namespace bochner {
namespace {

const Curve& curve_in(const MetricsLog& log, const std::string& key) {
  static const Curve none;
  const auto found = log.curves.find(key);
  return found == log.curves.end() ? none : found->second;
}

/// Reads a file that may disappear meanwhile.
std::string text_of_file(FileStorage& storage, const Path& path) try {
  return storage.exists(path) ? read_file(storage, path) : "";
} catch (const IoError&) {
  if (storage.exists(path)) throw;
  return "";
}

double last_of(const Curve& curve) { return curve.y.empty() ? 0 : curve.y.back(); }

}  // namespace

const char* name_of(RunPhase phase) {
  constexpr const char* names[] = {"not there yet", "trains", "stopped", "done"};
  return names[std::size_t(phase)];
}

RunView::RunView(FileStorage& storage, const Path& path)
    : storage_(&storage),
      path_(path),
      metrics_file_(storage, path / metrics_name),
      clock_file_(storage, path / clock_name),
      console_file_(storage, path / console_name) {}

bool RunView::refresh() {
  bool news = read_config();
  news = read_metrics_lines() || news;
  news = read_clock() || news;
  news = read_console() || news;
  const RunPhase before = std::exchange(phase_, phase_now());
  return news || phase_ != before;
}

/// Reads the config, which a resume may have changed.
bool RunView::read_config() {
  const std::string text = text_of_file(*storage_, path_ / config_name);
  if (text == config_text_) return false;
  config_text_ = text;
  settings_.clear();
  if (text.empty()) return true;
  const std::string meta = text_of_file(*storage_, path_ / meta_name);
  require_format(meta, path_.string());
  const Config config = stored_config(text, (path_ / config_name).string());
  for (const ParameterRow& row : config.table().rows())
    settings_.emplace_back(row.name, format_value(config.value(row.name)));
  steps_ = config.period("train.steps");
  parent_ = parent_in(meta);
  return true;
}

bool RunView::read_metrics_lines() {
  const auto [text, anew] = metrics_file_.read();
  if (anew) {
    metrics_ = {};
    problem_.clear();
    lines_ = 0;
  }
  for_each_line(text, [&](std::string_view line, std::size_t) {
    try {
      append_line(metrics_, line, in_words(metrics_file_.path().string(), ":", ++lines_));
    } catch (const DataError& error) {
      if (problem_.empty()) problem_ = error.what();
    }
  });
  return anew || !text.empty();
}

/// Reads the clock; ignores lines that are not valid.
bool RunView::read_clock() {
  const auto [text, anew] = clock_file_.read();
  if (anew) clock_ = {};
  for_each_line(text, [&](std::string_view line, std::size_t) {
    try {
      append_line(clock_, line, "");
    } catch (const DataError&) {
    }
  });
  return anew || !text.empty();
}

bool RunView::read_console() {
  const auto [text, anew] = console_file_.read();
  if (anew) last_words_.clear();
  for_each_line(text, [&](std::string_view line, std::size_t) { last_words_ = line; });
  return anew || !text.empty();
}

RunPhase RunView::phase_now() const {
  if (settings_.empty()) return RunPhase::missing;
  if (!storage_->in_use(path_ / lock_name).empty()) return RunPhase::training;
  return last_words_.starts_with("done ") || progress() >= 1 ? RunPhase::done : RunPhase::stopped;
}

std::string RunView::setting(std::string_view key) const {
  const auto found = std::ranges::find(settings_, key, &Settings::value_type::first);
  return found == settings_.end() ? "" : found->second;
}

const Curve& RunView::curve(const std::string& key) const { return curve_in(metrics_, key); }

const Curve& RunView::clock(const std::string& key) const { return curve_in(clock_, key); }

double RunView::step() const {
  double last = 0;
  for (const auto& [key, curve] : metrics_.curves) last = std::max(last, curve.x.back());
  return last;
}

double RunView::progress() const {
  const double at = steps_.unit == Period::Unit::epochs   ? last_of(curve("epoch"))
                    : steps_.unit == Period::Unit::tokens ? last_of(curve("tokens"))
                                                          : step();
  return steps_.off() ? 0 : std::min(1.0, at / steps_.count);
}

std::optional<double> RunView::seconds_at(double step) const {
  const auto& [steps, seconds] = clock("seconds");
  if (steps.empty()) return std::nullopt;
  const auto found = std::size_t(std::ranges::lower_bound(steps, step) - steps.begin());
  const std::size_t above = std::min(found, steps.size() - 1);
  if (above == 0) return seconds[0] * step / steps[0];
  const double part = (step - steps[above - 1]) / (steps[above] - steps[above - 1]);
  return seconds[above - 1] + part * (seconds[above] - seconds[above - 1]);
}

std::vector<Path> runs_in(FileStorage& storage, const Path& directory) {
  if (storage.exists(directory / config_name)) return {directory};
  std::vector<Path> runs;
  if (std::filesystem::is_directory(directory))
    for (const std::string& name : storage.list(directory))
      if (storage.exists(directory / name / config_name)) runs.push_back(directory / name);
  return runs;
}

}  // namespace bochner
