#pragma once
/// Small run with known content at every step, as the fault harnesses save and expect it.

#include <bochner/train/run/run_directory.hpp>
#include <string>
#include <vector>

namespace bochner::faults {

inline constexpr std::uint64_t stride = 10;  ///< the run saves at steps 10, 20, 30 ...

inline std::string metrics_line(std::uint64_t step) {
  return "{\"step\": " + std::to_string(step) + "}";
}

/// Returns the contents of metrics.jsonl when `step` is saved.
inline std::string metrics_until(std::uint64_t step) {
  std::string text;
  for (std::uint64_t at = stride; at <= step; at += stride) text += metrics_line(at) + "\n";
  return text;
}

/// Owner of a CheckpointContent's data; a function of the step alone.
struct Sample {
  std::vector<real> weight, bias;
  CheckpointContent content;

  explicit Sample(std::uint64_t step) : weight(16), bias(5) {
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = real(step) + real(0.5) * real(i);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = -real(step) - real(i);
    content.config = "[model]\nwidth = 4\n";
    content.tensors = {{"model/weight", {4, 4}, weight.data()},
                       {"optimizer/first/bias", {5}, bias.data()},
                       {"empty", {0, 3}, nullptr}};
    TrainerState& state = content.state;
    state.step = step;
    state.examples = 16 * step;
    state.seed = 7;
    state.loss_sum = 0.1 * static_cast<double>(step);
    state.metrics_bytes = metrics_until(step).size();
    state.best = {{stride, 1.5}};
    state.numerics = "test";
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
};

inline bool same(const Tensor& tensor, const std::vector<real>& values) {
  return std::equal(tensor.begin(), tensor.end(), values.begin(), values.end());
}

/// Returns whether the checkpoint equals, to the bit, what was saved at its step.
inline bool is_sample(const CheckpointReader& reader) {
  const Sample sample(reader.state().step);
  return reader.config() == sample.content.config && reader.state() == sample.content.state &&
         reader.tensors().size() == sample.content.tensors.size() &&
         same(reader.load("model/weight"), sample.weight) &&
         same(reader.load("optimizer/first/bias"), sample.bias);
}

inline const Path run_path = "runs/sample";

inline constexpr const char* sample_meta = "{\"format\": 1}";

inline RunDirectory create_sample_run(FileStorage& storage) {
  return RunDirectory::create(storage, run_path, Sample(0).content.config, sample_meta);
}

}  // namespace bochner::faults
