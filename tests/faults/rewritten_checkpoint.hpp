#pragma once
/// Checkpoints with changed contents.

#include <bochner/train/run/run_directory.hpp>
#include <functional>

namespace bochner::faults {

/// Changes the contents of a step's checkpoint, as if another program had written it.
inline void rewrite_checkpoint(FileStorage& storage, const Path& path, std::uint64_t step,
                               const std::function<void(CheckpointContent&)>& change) {
  const RunDirectory run = RunDirectory::read(storage, path);
  const CheckpointReader before = run.load_step(step);
  CheckpointContent content{before.config(), {}, before.state()};
  std::vector<Tensor> tensors;
  for (const StoredTensor& stored : before.tensors()) tensors.push_back(before.load(stored.name));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    content.tensors.push_back({before.tensors()[i].name, tensors[i].shape(), tensors[i].data()});
  change(content);
  commit_file(storage, run.checkpoint_path(step),
              [&](StoredFile& file) { write_checkpoint(file, content); });
}

}  // namespace bochner::faults
