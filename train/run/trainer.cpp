#include <fmt/format.h>

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/cross_shard_reduction.hpp>
#include <bochner/autodiff/forward_mode.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/numeric/lanczos.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/optim/clip.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <bochner/train/run/distributed_evaluation.hpp>
#include <bochner/train/run/instruments/gradient_noise.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/trainer.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/conformal/calibrate.hpp>
#include <set>

namespace bochner {
namespace {

/// Returns the name of the first parameter with a non-finite gradient.
std::string first_bad_gradient(const std::vector<NamedParameter>& parameters) {
  for (const auto& [name, parameter] : parameters) {
    if (!parameter->has_gradient()) continue;
    const Tensor& gradient = parameter->gradient();
    if (!all_finite(gradient.data(), gradient.size())) return name;
  }
  return "";
}

/// Returns the optimizer's spec; noise and posteriors are those of all data by default.
OptimizerSpec optimizer_spec(const Config& config, Task& task, const TrainSpec& train) {
  auto spec = read_spec<OptimizerSpec>(config, "optim");
  spec.seed = train.seed;
  if ((spec.kind == "langevin" || spec.kind == "natural") && spec.temperature == 0)
    spec.temperature = 1 / training_terms(task, train.validation_batch());
  return spec;
}

/// Drops the sign of a NaN, which is arbitrary.
double without_sign(double number) { return std::isnan(number) ? std::abs(number) : number; }

}  // namespace

bool crosses_examples(Module& model) {
  return std::ranges::any_of(parts_of(model), [](const NamedPart& part) {
    return dynamic_cast<BatchNorm*>(part.part) != nullptr;
  });
}

Trainer::Trainer(const Config& config, Task& task, std::uint64_t total_steps, Processes& processes)
    : task_(task),
      calibration_(calibration_spec(config)),
      parameters_(parameters_of(task.model())),
      visited_(set_of(parameters_)),
      train_(read_spec<TrainSpec>(config, "train")),
      optim_(std::make_unique<OptimizerSpec>(optimizer_spec(config, task, train_))),
      processes_(processes),
      gradients_(parameters_, train_.shards, crosses_examples(task.model()), processes),
      posteriors_(task.model(), train_.seed),
      optimizer_(make_optimizer(*optim_, parameters_)),
      total_steps_(total_steps) {
  if (optim_->kind == "natural_cg" && !posteriors_.empty())
    throw ConfigError(
        "optim.kind = \"natural_cg\": the divergence of a posterior has no Fisher product; set "
        "density.posterior = \"none\", or optim.kind = \"natural\"");
  state_.seed = train_.seed;
  state_.numerics = numerics_fingerprint();
  if (train_.partition && processes.size() > 1)
    partition_.emplace(*optimizer_, parameters_, processes);
  if (optim_->ema > 0 || !optimizer_->average_shares().empty()) average_.emplace(parameters_);
  if (train_.validate_kernels || calibration_.densities)
    kernels_.emplace(task.model(), config.text("model.mixer.draws"));
}

Trainer::~Trainer() = default;

void Trainer::calibrate(const std::function<bool(const std::string& layer)>& wanted) {
  calibrate_model(task_, calibration_, wanted);
  if (average_) average_.emplace(parameters_);
  if (calibration_.densities) kernels_->restart();
}

StepResult Trainer::sum_gradients(TapeObserver* observer, bool check_finite,
                                  const std::function<StopRequests()>& stop_requests) {
  const double terms = step_terms();
  const auto pass = [&](std::size_t shard, PassOptions options) {
    options.check_finite = check_finite;
    options.reports = &reports_[shard];
    return accumulate_gradients(shard, terms, options);
  };
  reports_.assign(train_.shards, {});
  StepResult result;
  {
    const DrawnPosteriors::Draw draw(posteriors_, state_.step);
    const ShardResult sum = gradients_.of(pass, observer, stop_requests);
    result.loss = sum.loss;
    result.stop_requests = sum.stop_requests;
  }
  if (posteriors_.empty()) return result;
  if (!terms_) terms_ = training_terms(task_, train_.validation_batch());
  result.divergence = posteriors_.add_gradients(1 / *terms_);
  return result;
}

double Trainer::step_terms() const {
  if (train_.accumulate * train_.shards == 1) return 0;
  const Dataset& data = task_.data();
  return data.terms(data.training(first_example(), train_.examples_per_step()));
}

double Trainer::divisor_of(const Examples& part, double terms) const {
  return terms > 0 ? terms / task_.data().terms(part) : double(train_.accumulate * train_.shards);
}

/// Accumulates one shard's gradients; the sum over shards is the mean over the step's predictions.
double Trainer::accumulate_gradients(std::size_t shard, double terms, PassOptions options) {
  const std::uint64_t parts = train_.accumulate * train_.shards,
                      size = train_.batch / train_.shards;
  // Products of curvature matrices are small differences of large sums.
  const ProductPrecisionScope precision(
      options.tangents == Tangents::none ? train_.product_precision() : ProductPrecision::full);
  options.training = true;
  options.visited = &visited_;
  options.seed = state_.seed;
  options.share = 1 / double(parts);
  double loss = 0;
  for (std::uint64_t micro = 0; micro < train_.accumulate; ++micro) {
    Tape tape(options);
    tape.step = state_.step * train_.accumulate + micro;
    if (tape.observer && micro + 1 == train_.accumulate) tape.observer->last_pass_began();
    const std::uint64_t first = first_example() + micro * train_.batch;
    const Examples part = task_.data().training(first + shard * size, size);
    const Var mean = task_.loss(tape, part);
    const double divisor = divisor_of(part, terms);
    loss += double(mean.value().data()[0]) / divisor;
    double seen = loss;  // shards that wait for each other must stop together
    if (options.reduction) options.reduction->all_reduce({&seen, 1});
    if (!std::isfinite(seen) && !options.check_finite) break;
    const Var part_of_step = parts == 1 ? mean : scale(mean, real(1.0 / divisor));
    options.tangents == Tangents::none ? tape.backward(part_of_step)
                                       : backward_of_tangent(tape, part_of_step);
  }
  return loss;
}

std::vector<Tensor> Trainer::product(Tangents matrix, const std::vector<Tensor>& v) {
  const ParameterTangents directions(parameters_, v);
  optimizer_->zero_gradients();
  const double terms = step_terms();
  const auto pass = [&](std::size_t shard, PassOptions options) {
    options.tangents = matrix;
    return accumulate_gradients(shard, terms, options);
  };
  gradients_.of(pass, nullptr);
  std::vector<Tensor> products;
  for (const auto& [name, parameter] : parameters_)
    products.push_back(parameter->has_gradient() ? parameter->gradient()
                                                 : zeros(parameter->shape()));
  return products;
}

std::string Trainer::non_finite_op(std::size_t shard, PassOptions options) {
  options.check_finite = true;
  try {
    accumulate_gradients(shard, step_terms(), options);
  } catch (const NonFiniteError& error) {
    return error.what();
  }
  return "";
}

double Trainer::differentiate() {
  if (PreparesSteps* steps = task_.abilities().steps) steps->before_step(first_example());
  return sum_gradients(nullptr, true).loss;
}

StepResult Trainer::step(TapeObserver* observer,
                         const std::function<StopRequests()>& stop_requests) {
  if (observer) observer->step_began();
  if (PreparesSteps* steps = task_.abilities().steps) steps->before_step(first_example());
  StepResult result = sum_gradients(observer, false, stop_requests);
  result.learning_rate = learning_rate(optim_->schedule, optim_->lr, state_.step, total_steps_);
  if (!std::isfinite(result.loss)) throw_diverged(result.loss, 0);
  result.gradient_norm = gradient_norm(parameters_);
  if (!std::isfinite(result.gradient_norm)) throw_diverged(result.loss, result.gradient_norm);
  GradientLimit limit;
  if (optim_->clip > 0) limit = norm_limit(result.gradient_norm, optim_->clip);
  if (optim_->clip_value > 0) limit.largest = real(optim_->clip_value);
  try {
    optimizer_->step(result.learning_rate, limit,
                     [this](const std::vector<Tensor>& v) { return product(Tangents::fisher, v); });
  } catch (const TangentError& error) {
    throw ConfigError(std::string("optim.kind = \"natural_cg\": ") + error.what() +
                      "; choose another optim.kind");
  }
  if (partition_ && !optimizer_->is_whole()) partition_->share_weights();
  require_finite_update(result.learning_rate);
  if (const std::vector<double> shares = optimizer_->average_shares(); !shares.empty())
    average_->update(shares);
  else if (average_)
    average_->update(optim_->ema, state_.ema_steps++);
  if (observer) observer->recorded("optimizer", 0);
  ++state_.step;
  ++state_.optimizer_steps;
  state_.examples += train_.examples_per_step();
  return result;
}

void Trainer::require_finite_update(double learning_rate) {
  for (const NamedParameter& named : parameters_) {
    const Tensor& value = named.parameter->value();
    if (all_finite(value.data(), value.size())) continue;
    throw DivergedError(fmt::format(
        "step {}: the update with learning rate {} makes {} infinite; this step is not saved. "
        "Lower optim.lr or set optim.clip",
        state_.step + 1, learning_rate, named.name));
  }
}

void Trainer::throw_diverged(double loss, double norm) {
  const std::string bad_gradient = first_bad_gradient(parameters_);
  optimizer_->zero_gradients();
  std::string cause;
  {
    const DrawnPosteriors::Draw draw(posteriors_, state_.step);
    cause = gradients_.first_problem(
        [this](std::size_t shard, const PassOptions& pass) { return non_finite_op(shard, pass); });
  }
  optimizer_->zero_gradients();
  if (cause.empty())
    cause = bad_gradient.empty() ? "no single op diverged: a sum over the parameters overflowed"
                                 : "the gradient of " + bad_gradient + " is not finite";
  throw DivergedError(fmt::format(
      "step {}: {} is not finite: {}; nothing was changed. {}", state_.step + 1,
      std::isfinite(loss) ? fmt::format("the gradient norm {}", without_sign(norm))
                          : fmt::format("the loss {}", without_sign(loss)),
      cause,
      state_.optimizer_steps > 0 ? "Lower optim.lr or set optim.clip"
                                 : "This is the first step: look for numbers in the data "
                                   "that are too large and for keys of the config that "
                                   "are extreme, and change them"));
}

std::optional<Evaluation> Trainer::validate(const std::function<bool()>& should_stop) {
  task_.fit_closed_form();
  const AverageInUse in_use(average_);
  const auto result =
      evaluate_shards(task_, Split::validation, train_.validation_batch(), train_.validate_batches,
                      should_stop, train_.shards, processes_);
  if (result) task_.fit_errors();
  return result;
}

Verdict Trainer::verdict() {
  task_.fit_closed_form();
  const AverageInUse in_use(average_);
  return task_.verdict(
      held_out_examples(task_.data(), train_.validation_batch(), train_.validate_batches));
}

std::optional<Calibration> Trainer::held_out_scores(const Config& config) {
  if (!calibrates_quickly(config, task_)) return {};
  const AverageInUse in_use(average_);
  Calibration scores = bochner::calibrate(config, task_);
  scores.step = state_.step;
  return scores;
}

std::optional<std::vector<KernelMetrics>> Trainer::kernels(
    const std::function<bool()>& should_stop) {
  std::optional<std::vector<KernelMetrics>> metrics = std::vector<KernelMetrics>();
  if (train_.validate_kernels && processes_.leads()) metrics = kernels_here(should_stop);
  if (processes_.any(!metrics)) return {};
  return metrics;
}

std::optional<std::vector<KernelMetrics>> Trainer::kernels_here(
    const std::function<bool()>& should_stop) {
  const AverageInUse in_use(average_);
  std::vector<KernelMetrics> metrics = kernels_->measure(task_);
  std::optional<std::map<std::string, double>> ratios = std::map<std::string, double>();
  if (train_.validate_gradients > 0 && !train_.overfit)
    ratios = gradient_to_noise(task_, state_.examples, train_.batch, train_.validate_gradients,
                               should_stop);
  if (!ratios) return {};
  if (const auto all = ratios->find(""); all != ratios->end())
    noise_scale_ = double(train_.batch) / (all->second * all->second);
  for (KernelMetrics& layer : metrics)
    if (const auto found = ratios->find(layer.layer); found != ratios->end())
      layer.gradient_to_noise = found->second;
  return metrics;
}

double Trainer::curvature(std::size_t iterations) {
  std::vector<double> start;
  const RandomFunction random{state_.seed, Purpose::curvature, state_.step};
  for (const NamedParameter& named : parameters_)
    for (std::size_t i = 0; i < named.parameter->value().size(); ++i)
      start.push_back(named.parameter->is_trained() ? random.normal(start.size()) : 0);
  const auto hessian = [this](const std::vector<double>& v) {
    std::vector<Tensor> tensors;
    const double* from = v.data();
    for (const NamedParameter& named : parameters_)
      for (real& number : tensors.emplace_back(uninitialized(named.parameter->shape())))
        number = real(*from++);
    std::vector<double> product;
    for (const Tensor& part : this->product(Tangents::exact, tensors))
      product.insert(product.end(), part.begin(), part.end());
    return product;
  };
  try {
    const DrawnPosteriors::Draw draw(posteriors_, state_.step);
    return largest_eigenvalue(hessian, std::move(start), iterations);
  } catch (const TangentError& error) {
    throw ConfigError(std::string("train.curvature.every: ") + error.what() + "; set it to 0");
  }
}

std::vector<std::pair<std::string, double>> Trainer::reports() {
  std::string mine;
  for (const Reports& shard : reports_)
    for (const auto& [name, mean] : shard.means) mine += name + "\n";
  std::set<std::string> names;
  for (const std::string& text : processes_.texts(mine))
    for_each_line(text, [&](std::string_view name, std::size_t) { names.emplace(name); });
  const std::vector<double> sums = processes_.sums(train_.shards, [&](std::size_t shard) {
    std::vector<double> numbers;
    for (const std::string& name : names) {
      const Reports::Mean mean = reports_[shard].means[name];
      numbers.insert(numbers.end(), {mean.sum, mean.count});
    }
    return numbers;
  });
  std::vector<std::pair<std::string, double>> means;
  for (const std::string& name : names)
    means.emplace_back(name, sums[2 * means.size()] / sums[2 * means.size() + 1]);
  return means;
}

std::vector<NamedTensor> Trainer::tensors() {
  std::vector<NamedTensor> all = model_tensors(task_.model());
  for (const NamedTensor& named : optimizer_->state())
    all.push_back({optimizer_prefix + named.name, named.tensor});
  if (average_)
    for (const NamedTensor& named : average_->state()) all.push_back(named);
  if (calibration_.densities)
    for (const NamedTensor& named : kernels_->state()) all.push_back(named);
  return all;
}

std::uint64_t Trainer::digest() {
  std::uint64_t digest = 0;
  for (const NamedTensor& named : tensors())
    if (optimizer_->is_whole() || !is_moment(named))
      digest = digest_of(named.tensor->data(), named.tensor->size() * sizeof(real), digest);
  return digest;
}

bool Trainer::gather_moments() {
  if (!partition_ || optimizer_->is_whole()) return false;
  partition_->gather();
  return true;
}

std::pair<std::size_t, std::size_t> Trainer::optimizer_bytes() {
  std::size_t here = 0;
  const std::vector<NamedTensor> state = optimizer_->state();
  for (const NamedTensor& named : state) here += named.tensor->size() * sizeof(real);
  const std::size_t counts = parameters_.size(), moments = (state.size() - 1) / counts;
  return {here, (counts + moments * optimizer_->elements()) * sizeof(real)};
}

}  // namespace bochner
