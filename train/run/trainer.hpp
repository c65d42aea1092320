#pragma once
/// Trainer: one training step after the other, without files, clocks or words.

#include <bochner/optim/ema.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/distributed/partition.hpp>
#include <bochner/train/distributed/sharded_gradients.hpp>
#include <bochner/train/run/calibration.hpp>
#include <bochner/train/run/checkpoint/trainer_state.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/drawn_posteriors.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <optional>

namespace bochner {

struct StepResult {
  double loss = 0;                   ///< mean over the step's examples, before the update
  std::optional<double> divergence;  ///< of posteriors and priors, for each term of the loss
  double gradient_norm = 0;          ///< before clipping
  double learning_rate = 0;
  StopRequests stop_requests = {};  ///< of all processes
};

/// What ends all processes of a run alike, so that one of them is to tell it.
struct AgreedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A loss or gradient that is not finite: nothing has changed, the text names the op. Or updated
/// weights that are not: the trainer is of no use any more, and must not be saved.
struct DivergedError : AgreedError {
  using AgreedError::AgreedError;
};

/// Whether what a pass makes of an example depends on the others of its batch.
bool crosses_examples(Module& model);

class Trainer {
 public:
  /// `total_steps` is where the schedule ends. All `processes` are at the same call of step(),
  /// validate() or kernels().
  Trainer(const Config& config, Task& task, std::uint64_t total_steps,
          Processes& processes = Processes::alone());
  ~Trainer();

  /// What a new run does before its first step, see calibrate_model(); `wanted` as there.
  void calibrate(const std::function<bool(const std::string& layer)>& wanted = {});
  /// Loss, gradients over all accumulated micro-batches, clipping, update, moving average.
  /// Each process is asked for its stop requests, which are sent with its gradients. Throws
  /// DivergedError.
  StepResult step(TapeObserver* observer = nullptr,
                  const std::function<StopRequests()>& stop_requests = {});
  /// Those of the step that would be next, before clipping, in the gradients of the parameters; its
  /// loss. Nothing is updated.
  double differentiate();
  /// Over the validation data, with the averaged weights if there are any.
  /// `should_stop` is asked between batches; nothing is returned when it says yes to a process.
  std::optional<Evaluation> validate(const std::function<bool()>& should_stop = {});
  /// The learned kernels on the first validation example, with the same weights; nothing when
  /// train.validate.kernels is off, and in other processes than the first. The model must be new
  /// when the trainer is made. `should_stop` as of validate().
  std::optional<std::vector<KernelMetrics>> kernels(const std::function<bool()>& should_stop = {});

  /// Where it is. Whoever sets it anew sets the tensors too: then it goes on from there.
  TrainerState& state() { return state_; }
  /// Parameters, buffers, moments and averages, and where densities started that start at the data:
  /// all tensors of a checkpoint under unique names.
  std::vector<NamedTensor> tensors();
  /// Of the bytes of all of them, but for moments that are cut.
  std::uint64_t digest();

  /// Whether this process is the first one.
  bool leads() const { return processes_.leads(); }
  /// With train.partition, from here on each process keeps its part of the moments; they must be
  /// whole, and equal in all processes.
  void cut_moments();
  /// Brings them together in the first process, which cuts them again. False where they are whole.
  bool gather_moments();
  /// What the optimizer keeps in this process, and what it would keep without train.partition.
  std::pair<std::size_t, std::size_t> optimizer_bytes();
  const GradientExchange& exchange() const { return gradients_.exchange(); }

 private:
  /// Of the loss, and of the divergence of posteriors.
  StepResult sum_gradients(TapeObserver* observer, bool check_finite,
                           const std::function<StopRequests()>& stop_requests = {});
  /// Of the step that is next.
  std::uint64_t first_example() const { return train_.overfit ? 0 : state_.examples; }
  double accumulate_gradients(std::size_t shard, PassOptions options);
  std::string non_finite_op(std::size_t shard, PassOptions options);
  std::optional<std::vector<KernelMetrics>> kernels_here(const std::function<bool()>& should_stop);
  void require_finite_update(double learning_rate);
  [[noreturn]] void throw_diverged(double loss, double norm);

  Task& task_;
  CalibrationSpec calibration_;
  std::vector<NamedParameter> parameters_;
  ParameterSet visited_;
  TrainSpec train_;
  std::unique_ptr<OptimizerSpec> optim_;
  Processes& processes_;
  ShardedGradients gradients_;
  DrawnPosteriors posteriors_;
  std::optional<double> terms_;  ///< of the loss of all training examples, once they are needed
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<OptimizerPartition> partition_;
  std::optional<WeightAverage> average_;
  std::optional<KernelMonitor> kernels_;
  TrainerState state_;
  std::uint64_t total_steps_;
};

}  // namespace bochner
