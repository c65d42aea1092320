#pragma once
/// The data of a run as the program read them that began it.

#include <bochner/data/vocabularies.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <bochner/train/tasks/task.hpp>
#include <optional>

namespace bochner {

/// Whether these are the data that the run learned. Not for large texts, which have marks.
bool has_data_of(const CheckpointReader& checkpoint, const Task& task);

/// The task of a config; where the data have this fingerprint only if they are split by the rule of
/// older programs, then by that rule.
std::unique_ptr<Task> make_task_like(const Config& config, std::uint64_t fingerprint);

/// What numbers stand for in a run whose program kept no names of them: as in its own data.
/// Nothing where these have changed or cannot be read.
std::optional<Vocabularies> names_in_data_of(const CheckpointReader& checkpoint);

/// Of keys for which a run has no names and whose data are not there to tell them.
std::string note_on_names(const std::vector<std::string>& keys);

/// What to say where another revision wrote the checkpoint; "" where none did.
std::string note_on_revision(const CheckpointReader& checkpoint);

}  // namespace bochner
