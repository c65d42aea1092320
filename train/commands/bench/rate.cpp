#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/run/trainer.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr double smoothing = 0.9, rise = 3;  // of losses; in units of the fall before, or the loss
constexpr std::size_t fewest = 10, rows = 16;

struct RateOptions {
  std::string config;
  std::vector<std::string> sets;
  std::uint64_t steps = 100;
  double low = 1e-6, high = 1;
  bool json = false;
};

struct RatedLoss {
  double rate, loss;  ///< learning rate of a step, and the running mean of the losses before it
};

/// Returns the config with rates that rise geometrically over the steps.
Config rising(const RateOptions& options) {
  std::vector<std::string> sets = options.sets;
  for (const auto& set :
       {fmt::format("optim.lr={}", options.low), std::string("optim.schedule.kind=\"exponential\""),
        std::string("optim.schedule.warmup=0"),
        fmt::format("optim.schedule.floor={}", options.high),
        fmt::format("train.steps={}", options.steps)})
    sets.push_back(set);
  Config config = read_config(options.config, sets);
  demand(!applies(config, "optim.decay") || config.text("optim.decay") != "independent",
         "optim.decay = \"independent\" divides by optim.lr, which is searched for; add --set "
         "optim.decay=decoupled");
  return config;
}

/// Trains a new model until the steps are over or the loss has risen far above its lowest. Smith,
/// "Cyclical learning rates for training neural networks", 2017.
std::vector<RatedLoss> range_test(const Config& config, std::uint64_t steps) {
  const auto task = make_task(config);
  Trainer trainer(config, *task, steps);
  task->start();
  trainer.calibrate();
  std::vector<RatedLoss> losses;
  double sum = 0, weight = 0, lowest = std::numeric_limits<double>::infinity();
  try {
    while (losses.size() < steps) {
      const StepResult result = trainer.step();
      sum = smoothing * sum + (1 - smoothing) * result.loss;
      weight = smoothing * weight + (1 - smoothing);
      losses.push_back({result.learning_rate, sum / weight});
      lowest = std::min(lowest, losses.back().loss);
      const double unit = std::max(losses[0].loss - lowest, std::abs(lowest));
      if (losses.size() > fewest && losses.back().loss > lowest + rise * unit) break;
    }
  } catch (const DivergedError&) {  // where the rates are too large
  }
  return losses;
}

/// Returns the index of the step at which the loss falls most for an equal ratio of rates.
std::size_t steepest(const std::vector<RatedLoss>& losses, std::size_t before) {
  std::size_t best = fewest;
  double fall = 0;
  for (std::size_t i = fewest; i + 1 <= before; ++i) {
    const double difference = losses[i - 1].loss - losses[i + 1].loss;
    if (difference > fall) fall = difference, best = i;
  }
  return best;
}

void bench_rate_command(const RateOptions& options) {
  demand(options.steps >= 2 * fewest, "--steps {}: must be at least {}", options.steps, 2 * fewest);
  demand(options.low > 0 && options.low < options.high && std::isfinite(options.high),
         "--low {} --high {}: must ascend from above 0", options.low, options.high);
  const std::vector<RatedLoss> losses = range_test(rising(options), options.steps);
  const auto lowest =
      std::size_t(std::ranges::min_element(losses, {}, &RatedLoss::loss) - losses.begin());
  demand(lowest > fewest, "the loss does not fall from a rate of {:.2g} on; lower --low",
         options.low);
  demand(lowest + 1 < losses.size() || losses.size() < options.steps,
         "the loss still falls at a rate of {:.2g}; raise --high", losses.back().rate);
  const std::size_t fastest = steepest(losses, lowest);
  const double advice = std::sqrt(losses[fastest].rate * losses[lowest].rate);
  if (options.json)
    return print_line(
        {{"steepest", losses[fastest].rate}, {"lowest", losses[lowest].rate}, {"advice", advice}});
  fmt::print("{:>10} {:>10}\n", "rate", "loss");
  for (std::size_t i = 0; i < losses.size(); i += std::max<std::size_t>(1, losses.size() / rows))
    fmt::print("{:>10.2g} {:>10.4f}\n", losses[i].rate, losses[i].loss);
  fmt::print(
      "falls fastest at {:.2g}, lowest at {:.2g}{}: try optim.lr = {:.1g}, their geometric mean\n",
      losses[fastest].rate, losses[lowest].rate,
      losses.size() < options.steps ? fmt::format(", diverges at {:.2g}", losses.back().rate) : "",
      advice);
}

}  // namespace

void add_rate_bench(const Command& bench) {
  const auto [command, options] = bench.command(
      "rate", "find a learning rate: train briefly while it rises", bench_rate_command);
  add_config_file(command, options.config);
  add_sets(command, options.sets);
  command.number("--steps", &options.steps, "steps of training");
  command.number("--low", &options.low, "learning rate of the first step");
  command.number("--high", &options.high, "learning rate that the last step comes near");
  command.flag("--json", &options.json, "print a JSON line");
}

}  // namespace bochner
