#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bochner/data/former_split.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/run/recognised_task.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner {

bool has_data_of(const CheckpointReader& checkpoint, const Task& task) {
  return task.data().fingerprint() == checkpoint.state().data_fingerprint;
}

std::unique_ptr<Task> make_task_like(const Config& config, std::uint64_t fingerprint) {
  take_doubt_of_split();
  auto task = make_task(config);
  const bool in_doubt = take_doubt_of_split();
  if (!in_doubt || task->data().corpus() || task->data().fingerprint() == fingerprint) return task;
  const FormerSplit former;
  auto formerly = make_task(config);
  return formerly->data().fingerprint() == fingerprint ? std::move(formerly) : std::move(task);
}

std::optional<Vocabularies> names_in_data_of(const CheckpointReader& checkpoint) {
  try {
    const Config config = stored_config(checkpoint.config(), checkpoint.path().string());
    const auto task = make_task_like(config, checkpoint.state().data_fingerprint);
    if (has_data_of(checkpoint, *task)) return task->names();
  } catch (const std::runtime_error&) {  // its files are away, or are not what they were
  }
  return std::nullopt;
}

std::string note_on_names(const std::vector<std::string>& keys) {
  return fmt::format(
      "the run has kept no names, and the data that it learned have changed, are away or are read "
      "otherwise: numbers stand for what they do in these data; if it learned another order or "
      "format, give it: --set '{} = [...]'",
      fmt::join(keys, " = [...]' --set '"));
}

std::string note_on_revision(const CheckpointReader& checkpoint) {
  const std::string revisions = other_revision(checkpoint.state().numerics);
  return revisions.empty() ? ""
                           : "the run is of another build, " + revisions +
                                 ": what is read and computed may differ";
}

}  // namespace bochner
