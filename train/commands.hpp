#pragma once
/// The commands behind the command line. Each returns an exit code and throws what cli() turns into
/// one.

#include <bochner/train/sampling.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Options of every command that trains.
struct TrainingOptions {
  std::string run;                ///< directory; "" for runs/NAME of the config
  std::vector<std::string> sets;  ///< "section.key=value"
  std::string progress = "auto";
  bool profile = false;  ///< print where the time went, and keep it in the run
  std::string command;   ///< as typed, for meta.json
};

int train_command(const std::string& config, const TrainingOptions& options);
int resume_command(const std::string& run, bool strict, const TrainingOptions& options);
int fork_command(const std::string& parent, const std::string& config, const std::string& resets,
                 const TrainingOptions& options);

struct EvaluationOptions {
  std::vector<std::string> sets;
  bool averaged = true;  ///< use the averaged weights if the run has them
  bool json = false;
};
int eval_command(const std::string& run, const EvaluationOptions& options);

struct SampleOptions {
  std::string prompt = "\n";
  std::uint64_t bytes = 300, seed = 1;
  SamplingOptions sampling;
  bool averaged = true;
};
int sample_command(const std::string& run, const SampleOptions& options);

int inspect_command(const std::string& run_or_file, bool json);
int export_command(const std::string& run, const std::string& output, bool averaged);

int config_check_command(const std::string& file, const std::vector<std::string>& sets);
int config_print_command(const std::string& file, const std::vector<std::string>& sets);
enum class KeyFormat { text, json, markdown };
int config_keys_command(const std::string& section, KeyFormat format);

struct GradcheckOptions {
  std::string mixer, features, density;  ///< "" for all
  bool json = false;
  int argc = 0;  ///< as main() got them, to go on as the double program beside this one
  char** argv = nullptr;
};
/// Gradients of small language models through all their parameters.
int gradcheck_command(const GradcheckOptions& options);

struct BenchOptions {
  std::uint64_t steps = 20;
  std::size_t batch = 0;  ///< sequences; 0 for the model's own number
  bool bits = false;      ///< a digest of the parameters after the steps, and no times
  bool json = false;
};
/// Training steps of a reference model, or of "all", on random tokens.
int bench_step_command(const std::string& model, const BenchOptions& options);

struct BenchLengthOptions {
  std::size_t longest = 1 << 20;
  double limit = 10;        ///< seconds for a pass of softmax attention
  bool checkpoint = false;  ///< a checkpointed training step of the longest sequence instead
  bool json = false;
};
/// Time per token and memory of linear and softmax attention, from 256 tokens to the longest.
int bench_length_command(const BenchLengthOptions& options);

/// A script for the shell "bash" or "zsh" that completes commands, options and keys.
int completion_command(const std::string& shell);
/// What may follow --set, one a line: what the completion scripts ask for.
int complete_setting_command(const std::string& word);

}  // namespace bochner::inline BOCHNER_PRECISION
