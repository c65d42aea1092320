#pragma once
/// The commands behind the command line. Each returns an exit code and throws what cli() turns into
/// one.

#include <bochner/train/run/sampling.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Options of every command that trains.
struct TrainingOptions {
  std::string run;                ///< directory; "" for runs/NAME of the config
  std::vector<std::string> sets;  ///< "section.key=value"
  std::string progress = "auto";
  bool profile = false;  ///< print where the time went, and keep it in the run
  std::string program;   ///< its first word, for what to type next
  std::string command;   ///< as a shell reads it, for meta.json
};

int train_command(const std::string& config, const TrainingOptions& options);
int resume_command(const std::string& run, bool strict, const TrainingOptions& options);
int fork_command(const std::string& parent, const std::string& config, const std::string& resets,
                 const TrainingOptions& options);

/// Options of a sweep: runs with every combination of some values.
struct SweepOptions {
  std::vector<std::string> sets;  ///< for all runs
  std::vector<std::string> vary;  ///< "section.key=value,value"
  std::string runs;               ///< directory of the runs; "" for runs/NAME-sweep of the config
  std::size_t jobs = 0;           ///< runs at the same time; 0: one for each processor
  std::size_t threads = 0;        ///< of each run; 0: the processors shared out
  bool json = false;
};
/// Trains each run in a process of its own; runs that exist already are gone on with.
int sweep_command(const std::string& config, const SweepOptions& options);

struct EvaluationOptions {
  std::vector<std::string> sets;
  std::string split = "validation";
  bool averaged = true;  ///< use the averaged weights if the run has them
  bool json = false;
};
int eval_command(const std::string& run, const EvaluationOptions& options);

struct PredictionOptions {
  std::vector<std::string> sets;
  std::string input = "-", output = "-";  ///< .npy or CSV files; "-" for standard input and output
  bool averaged = true;
};
/// What the model says about a table of the user's.
int predict_command(const std::string& run, const PredictionOptions& options);
struct CompressionOptions {
  std::vector<std::string> sets;
  std::optional<double> prune;  ///< fraction that is set to zero
  std::optional<int> bits;
  std::optional<std::size_t> rank;
  bool averaged = true, json = false;
};
/// Loss of a field model before and after each of these is done to W of its fused encoding.
int compress_command(const std::string& run, const CompressionOptions& options);

struct SampleOptions {
  std::string prompt = "\n";
  std::uint64_t bytes = 300, seed = 1;
  SamplingOptions sampling;
  bool averaged = true;
};
int sample_command(const std::string& run, const SampleOptions& options);

/// Writes RUN/report.html, one page with everything in it.
int plot_command(const std::string& run, const std::vector<std::string>& sets, bool averaged);

int inspect_command(const std::string& run_or_file, bool json);
int export_command(const std::string& run, const std::string& output, bool averaged);

int config_check_command(const std::string& file, const std::vector<std::string>& sets);
int config_print_command(const std::string& file, const std::vector<std::string>& sets);
enum class KeyFormat { text, json, markdown };
int config_keys_command(const std::string& section, KeyFormat format);

struct DataOptions {
  std::vector<std::string> files;  ///< "-" for standard input
  std::string output;              ///< of convert; "-" for standard output
  std::string delimiter = ",", header = "auto", columns, time, time_format, missing;  ///< CSV
  std::string array;  ///< of a .npz file; "" for all
  std::string type;   ///< of the elements that convert writes; "" for that of the input
  std::size_t rows = 5;
  bool compressed = false, json = false;
};
/// Kind, shape and columns of files of numbers.
int data_info_command(const DataOptions& options);
/// Their first rows.
int data_peek_command(const DataOptions& options);
/// A file of numbers in another format.
int data_convert_command(const DataOptions& options);

/// Options of the commands that study kernels without training a model.
struct KernelOptions {
  std::string config;                    ///< "" for the defaults
  std::vector<std::string> sets;         ///< "section.key=value"
  std::string features, density, draws;  ///< "" for the config's
  std::uint64_t d = 0;                   ///< size of a head; 0 for the config's
  std::string m = "16,64,256,1024";
  std::uint64_t seeds = 16;
  double error = 0.1;         ///< relative error that is wanted
  double scale = 1;           ///< standard deviation of synthetic queries and keys
  std::string queries, keys;  ///< .npy files, or ""
  std::string data;           ///< RUN whose queries and keys are studied, or ""
  std::string report;         ///< HTML file to write, or ""
  bool json = false;
};
/// Bias, variance and error of a feature map, its spectrum and kernel.
int kernel_command(const KernelOptions& options);

struct KernelFitOptions {
  KernelOptions kernel;
  std::string target = "matern52";  ///< name or .csv or .npy file
  double reach = 4;                 ///< largest |delta|
  std::uint64_t steps = 1500;
  double learning_rate = 0.03;
};
/// A density fitted to a kernel.
int kernel_fit_command(const KernelFitOptions& options);

struct KernelCompareOptions {
  KernelOptions kernel;
  std::string maps;  ///< "wpff,positive"; "" for all
  std::uint64_t steps = 600;
  double learning_rate = 0.02;
  bool density = false;  ///< fit the frequencies too
};
/// Held-out kernel error of feature maps before and after they are fitted.
int kernel_compare_command(const KernelCompareOptions& options);

/// The cluster experiment of hybrid random features beside its published figures.
int kernel_clusters_command(const KernelOptions& options);

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

}  // namespace bochner::inline BOCHNER_PRECISION
