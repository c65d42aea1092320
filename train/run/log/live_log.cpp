#include <unistd.h>

#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/log/tensorboard.hpp>
#include <bochner/train/storage/json.hpp>
#include <chrono>
#include <fstream>

namespace bochner {
namespace {

using Scalars = std::vector<std::pair<std::string, double>>;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void add_scalars(Scalars& scalars, const std::string& name, const Json& value) {
  if (const auto number = value.number()) scalars.emplace_back(name, *number);
}

/// Converts a line of metrics to scalars; those of layers are under kernels/KEY/LAYER.
Scalars scalars_of(const Json& line) {
  Scalars scalars;
  for (const auto& [key, value] : line.members())
    if (key != "step") add_scalars(scalars, key, value);
  for (const Json& layer : line["kernels"].items())
    for (const auto& [key, value] : layer.members())
      if (const std::string* name = layer["layer"].text())
        add_scalars(scalars, "kernels/" + key + "/" + *name, value);
  return scalars;
}

}  // namespace

bool is_live_log(const std::string& name) {
  return name == console_name || name == clock_name || name == watch_page_name ||
         name.starts_with(events_prefix);
}

std::uint64_t resident_bytes() {
  std::uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * std::uint64_t(::sysconf(_SC_PAGESIZE));
}

void LiveLog::Part::append(const std::string& bytes) try {
  if (file) file->append(bytes.data(), bytes.size());
} catch (const IoError&) {
}

LiveLog::LiveLog(FileStorage& storage, const Path& run, std::uint64_t step, bool tensorboard)
    : storage_(storage), run_(run) {
  try {
    forget_after(step);
    console_.file = storage.open_append(run / console_name);
    clock_.file = storage.open_append(run / clock_name);
    if (tensorboard) open_events(step);
  } catch (const IoError&) {
  }
}

void LiveLog::open_events(std::uint64_t step) {
  const double now = seconds_since_1970();
  const std::string name =
      events_prefix + std::to_string(std::uint64_t(now)) + ".bochner." + std::to_string(::getpid());
  events_.file = storage_.open_append(run_ / name);
  events_.append(tf_record(version_event(now)) + tf_record(start_event(now, step)));
}

void LiveLog::forget_after(std::uint64_t step) {
  if (!storage_.exists(run_ / clock_name)) return;
  const std::string before = read_file(storage_, run_ / clock_name);
  std::string kept;
  for_each_line(before, [&](std::string_view line, std::size_t) {
    const auto at = Json::parse(line)["step"].number();
    if (at && *at <= double(step)) kept.append(line).append("\n");
  });
  if (kept != before) commit_file(storage_, run_ / clock_name, kept);
}

void LiveLog::console(const std::string& line) { console_.append(line + "\n"); }

void LiveLog::metrics(const Json& line, double seconds) {
  const auto step = std::uint64_t(line["step"].number().value_or(0));
  const std::uint64_t memory = resident_bytes();
  const bool of_training = line["loss"].number().has_value();
  if (of_training)
    clock_.append(Json{{"step", step}, {"seconds", seconds}, {"memory", memory}}.line() + "\n");
  if (!events_.file) return;
  Scalars scalars = scalars_of(line);
  if (of_training) {
    scalars.emplace_back("seconds", seconds);
    scalars.emplace_back("memory", double(memory));
  }
  events_.append(tf_record(scalar_event(seconds_since_1970(), step, scalars)));
}

}  // namespace bochner
