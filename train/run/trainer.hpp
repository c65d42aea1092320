#pragma once
/// Trainer: training steps without files, clocks or messages.

#include <bochner/optim/ema.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/distributed/partition.hpp>
#include <bochner/train/distributed/sharded_gradients.hpp>
#include <bochner/train/run/calibration.hpp>
#include <bochner/train/run/checkpoint/trainer_state.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/drawn_posteriors.hpp>
#include <bochner/train/tasks/conformal/calibration.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/train_spec.hpp>

namespace bochner {

struct StepResult {
  double loss = 0;                   ///< mean over the step's examples, before the update
  std::optional<double> divergence;  ///< of posteriors from priors, per term of the loss
  double gradient_norm = 0;          ///< before clipping
  double learning_rate = 0;
  StopRequests stop_requests = {};  ///< of all processes
};

/// Error that ends all processes of a run alike, so that only one needs to report it.
struct AgreedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Loss or gradient that is not finite: nothing has changed, and the text names the op. Or updated
/// weights that are not finite: then the trainer must be neither used nor saved.
struct DivergedError : AgreedError {
  using AgreedError::AgreedError;
};

/// Whether the result for an example depends on the others of its batch.
bool crosses_examples(Module& model);

class Trainer {
 public:
  /// Makes a trainer whose schedule ends at `total_steps`. All `processes` must make the same calls
  /// of step(), validate() and kernels().
  Trainer(const Config& config, Task& task, std::uint64_t total_steps,
          Processes& processes = Processes::alone());
  ~Trainer();

  /// Calibrates a new run before its first step, see calibrate_model(), also for `wanted`.
  void calibrate(const std::function<bool(const std::string& layer)>& wanted = {});
  /// Makes a step: loss, gradients over all micro-batches, clipping, update, moving average. Sends
  /// each process's stop requests with its gradients. Throws DivergedError.
  StepResult step(TapeObserver* observer = nullptr,
                  const std::function<StopRequests()>& stop_requests = {});
  /// Computes the gradients of the next step, before clipping, without an update. Returns its loss.
  double differentiate();
  /// Evaluates the validation data and calls Task::fit_errors(), with the averaged weights if there
  /// are any. Returns nothing if `should_stop`, called between batches, returns true in a process.
  std::optional<Evaluation> validate(const std::function<bool()>& should_stop = {});
  /// Returns the verdict on the test data, or else on the validation data, with the same weights;
  /// in this process alone.
  Verdict verdict();
  /// Returns what held-out examples show of the same weights; nothing if calibrates_quickly() is
  /// false.
  std::optional<Calibration> held_out_scores(const Config& config);
  /// Measures the learned kernels on the first validation example, with the same weights; empty if
  /// train.validate.kernels is off and in all processes but the first. The model must be new when
  /// the trainer is made. `should_stop` as in validate().
  std::optional<std::vector<KernelMetrics>> kernels(const std::function<bool()>& should_stop = {});

  /// Returns the largest eigenvalue of the Hessian of the next step's loss, estimated from below by
  /// Lanczos iterations of about three gradients each. Throws ConfigError for a loss without a
  /// tangent rule.
  double curvature(std::size_t iterations);
  /// Returns what modules have reported in the last step, the means over all processes by name. All
  /// processes must call it.
  std::vector<std::pair<std::string, double>> reports();

  /// Returns the batch whose gradient has as much signal as noise, in examples, as kernels() has
  /// measured it with train.validate.gradients; nothing before, and in all processes but the first.
  std::optional<double> noise_scale() const { return noise_scale_; }

  /// Returns the state. To continue from another one, set the tensors too.
  TrainerState& state() { return state_; }
  /// Returns all tensors of a checkpoint under unique names: parameters, buffers, moments,
  /// averages, and the starts of densities that start at the data.
  std::vector<NamedTensor> tensors();
  /// Returns a digest of all tensors except for partitioned moments.
  std::uint64_t digest();

  /// Whether this process is the first one.
  bool leads() const { return processes_.leads(); }
  /// Partitions moments with train.partition; they must be whole and equal in all processes.
  void cut_moments() {
    if (partition_) partition_->cut();
  }
  /// Gathers partitioned moments in the first process until cut_moments(); false if they are whole.
  bool gather_moments();
  /// Returns the bytes of the optimizer in this process, and without train.partition.
  std::pair<std::size_t, std::size_t> optimizer_bytes();
  const GradientExchange& exchange() const { return gradients_.exchange(); }

 private:
  /// Sums the gradients of the loss and of the divergence of posteriors.
  StepResult sum_gradients(TapeObserver* observer, bool check_finite,
                           const std::function<StopRequests()>& stop_requests = {});
  /// Returns the first example of the next step.
  std::uint64_t first_example() const { return train_.overfit ? 0 : state_.examples; }
  /// Returns the number of predictions of the next step; 0 if the step has one part.
  double step_terms() const;
  /// Returns how many times the predictions of a part are in the `terms` of its step.
  double divisor_of(const Examples& part, double terms) const;
  double accumulate_gradients(std::size_t shard, double terms, PassOptions options);
  /// Returns the Fisher matrix or the Hessian of the step's loss times v; overwrites gradients.
  std::vector<Tensor> product(Tangents matrix, const std::vector<Tensor>& v);
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
  std::optional<double> noise_scale_;
  std::vector<Reports> reports_;  ///< of each shard in the last step
  std::optional<double> terms_;   ///< in the loss of all training examples, computed on demand
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<OptimizerPartition> partition_;
  std::optional<WeightAverage> average_;
  std::optional<KernelMonitor> kernels_;
  TrainerState state_;
  std::uint64_t total_steps_;
};

}  // namespace bochner
