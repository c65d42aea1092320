#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/commands/bench/pass_times.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/distributed/exchange_plan.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/run/trainer.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t warm_up = 2, round_trips = 100, large_message = std::size_t(1) << 22;
constexpr const char* usual_network = "10Gb,20us";

struct ScaleOptions {
  std::string config, network, counts = "1,2,4,8,16,32";
  std::vector<std::string> sets;
  std::size_t steps = 10;
  bool json = false;
  CommandLine* line = nullptr;
};

/// Cost of a training step in this process.
struct StepCost {
  std::size_t shards = 1;
  bool partition = false;
  ShardPassTime pass;
  std::vector<double> passes = {};  ///< seconds of each measured pass
  std::vector<double> bytes = {};   ///< message size per bucket
  double rest = 0;                  ///< seconds beyond the passes: additions, clipping, the update

  double all_bytes() const { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }
};

/// Fills buckets with parameters in the order in which a pass finishes them.
void fill_buckets(StepCost& cost, const std::vector<NamedParameter>& parameters,
                  const PassTimes& times) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times.done(i); });
  std::size_t all = 0;
  for (const NamedParameter& named : parameters) all += named.parameter->value().size();
  const Buckets buckets(all, sizeof(real));
  std::size_t next = 0, end = 0;  // index of a parameter; of its numbers
  for (std::size_t bucket = 0; bucket < buckets.count; ++bucket) {
    while (end < buckets.begin_of(bucket + 1))
      end += parameters[order[next++]].parameter->value().size();
    cost.pass.whole.push_back(times.done(order[next - 1]));
    cost.bytes.push_back(double(buckets.begin_of(bucket + 1) - buckets.begin_of(bucket)) *
                         sizeof(real));
  }
  cost.pass.whole.back() = cost.pass.seconds;  // carries the loss
}

/// Measures steps in which this process computes all shards, one batch each.
StepCost measure_alone(Config config, Task& task, std::size_t steps) {
  const auto spec = read_spec<TrainSpec>(config, "train");
  apply_set(config, "train.accumulate=1");
  Trainer trainer(config, task, steps + warm_up);
  for (std::size_t i = 0; i < warm_up; ++i) trainer.step();
  const std::vector<NamedParameter> parameters = parameters_of(task.model());
  const bool crossing = crosses_examples(task.model());
  PassTimes times(parameters, crossing ? spec.shards : 1);
  std::vector<double> seconds(steps);
  for (double& time : seconds) time = seconds_of([&] { trainer.step(&times); });
  times.end();
  StepCost cost{.shards = spec.shards, .partition = spec.partition, .pass = {}};
  cost.passes = times.passes();
  cost.pass.seconds = mean_of(cost.passes);
  fill_buckets(cost, parameters, times);
  cost.rest = std::max(0.0, mean_of(seconds) - double(cost.shards) * cost.pass.seconds);
  // Gradients are complete only after the last of a shard's batches.
  const double before = double(spec.accumulate - 1) * cost.pass.seconds;
  for (double& whole : cost.pass.whole) whole += before;
  cost.pass.seconds += before;
  if (crossing) std::ranges::fill(cost.pass.whole, cost.pass.seconds);  // shards take turns
  return cost;
}

/// Measures the link between the first and the last process.
Network measure_network(Processes& processes) {
  const std::size_t last = processes.size() - 1;
  std::string message(large_message, 'x');
  const auto seconds = [&](std::size_t bytes, std::size_t times) {
    return seconds_of([&] {
             for (std::size_t i = 0; i < times; ++i)
               for (const std::size_t sender : {std::size_t(0), last}) {
                 Transport& transport = processes.transport();
                 if (processes.rank() == sender)
                   transport.send(last - sender, message.data(), bytes);
                 if (processes.rank() == last - sender)
                   transport.receive(sender, message.data(), bytes);
               }
           }) /
           double(2 * times);
  };
  seconds(large_message, 1);
  const double latency = seconds(1, round_trips), large = seconds(large_message, 4);
  std::vector<double> both = {double(large_message) / std::max(large - latency, 1e-9), latency};
  processes.share(both);
  return {both[0], both[1]};
}

/// Predicted step of a number of processes.
struct Forecast {
  std::size_t processes = 1, messages = 0;      ///< sent by the busiest process
  double bytes = 0;                             ///< of these messages
  double compute = 0, exchange = 0, shown = 0;  ///< seconds; shown: part of the exchange that the
                                                ///< passes do not hide
  double step() const { return compute + shown; }
  double hidden() const { return exchange > 0 ? 1 - std::min(1.0, shown / exchange) : 1; }
};

void count_messages(Forecast& forecast, const Leaves& leaves, const StepCost& cost) {
  for (std::size_t rank = 0; rank < leaves.processes; ++rank) {
    std::size_t messages = 0;
    double bytes = 0;
    for (std::size_t bucket = 0; bucket < cost.bytes.size(); ++bucket)
      for (const ExchangeStep& step : exchange_plan(leaves, rank, bucket))
        if (step.kind == ExchangeStep::send || step.kind == ExchangeStep::share) {
          ++messages;
          bytes += cost.bytes[bucket];
        }
    forecast.messages = std::max(forecast.messages, messages);
    forecast.bytes = std::max(forecast.bytes, bytes);
  }
}

Forecast forecast_of(const StepCost& cost, std::size_t processes, const Network& network) {
  const Leaves leaves{cost.shards, processes};
  const std::size_t most = ceil_div(cost.shards, processes);
  const double passes = double(most) * cost.pass.seconds;
  ShardPassTime at_the_end = cost.pass;
  std::ranges::fill(at_the_end.whole, cost.pass.seconds);
  Forecast forecast{.processes = processes, .compute = passes + cost.rest};
  forecast.exchange = exchange_seconds(leaves, cost.bytes, at_the_end, network) - passes;
  forecast.shown = exchange_seconds(leaves, cost.bytes, cost.pass, network) - passes;
  count_messages(forecast, leaves, cost);
  if (cost.partition && processes > 1) {
    const double weights = cost.all_bytes() / double(processes) * double(processes - 1);
    forecast.exchange += network.seconds(weights);
    forecast.shown += network.seconds(weights);
    forecast.messages += processes - 1;
    forecast.bytes += weights;
  }
  return forecast;
}

/// Measured step of the started processes, to compare with the prediction.
struct Measured {
  double step = 0, waited = 0;  ///< seconds
};

Measured measure_together(const Config& config, Processes& processes, std::size_t steps) {
  const auto task = make_task(config);
  Trainer trainer(config, *task, steps + warm_up, processes);
  trainer.cut_moments();
  for (std::size_t i = 0; i < warm_up; ++i) trainer.step();
  const double waited = trainer.exchange().cost().seconds;
  std::vector<double> seconds(steps);
  for (double& time : seconds) time = seconds_of([&] { trainer.step(); });
  const std::vector<double> slowest = processes.largest(
      {mean_of(seconds), (trainer.exchange().cost().seconds - waited) / double(steps)});
  return {slowest[0], slowest[1]};
}

/// Scales the cost to the slowest process, which may differ between passes.
void take_slowest(StepCost& cost, Processes& processes) {
  const double slower = mean_of(processes.largest(cost.passes)) / mean_of(cost.passes);
  cost.pass.seconds *= slower;
  for (double& whole : cost.pass.whole) whole *= slower;
  std::vector<double> times = cost.pass.whole;
  times.insert(times.end(), {cost.pass.seconds, cost.rest});
  processes.share(cost.bytes);
  times = processes.largest(times);
  cost.rest = times.back();
  cost.pass.seconds = times[times.size() - 2];
  cost.pass.whole.assign(times.begin(), times.end() - 2);
}

void print_head(const StepCost& cost, const Network& network, const char* origin) {
  fmt::print("{} · {}\n", version_line(), format_number_of(thread_count(), "thread"));
  fmt::print(
      "step     {} of {:.2f} ms and {:.2f} ms beyond them, in each process; {} of gradients in "
      "{}\n",
      format_number_of(cost.shards, "shard"), 1e3 * cost.pass.seconds, 1e3 * cost.rest,
      format_bytes(cost.all_bytes()), format_number_of(cost.bytes.size(), "bucket"));
  fmt::print("network  {:.3g} Gb/s, {:.3g} us, {}\n", 8e-9 * network.bytes_per_second,
             1e6 * network.latency, origin);
  fmt::print("{:>9} {:>8} {:>11} {:>12} {:>8} {:>9} {:>9} {:>9} {:>10}\n", "processes", "shards",
             "compute ms", "exchange ms", "hidden", "step ms", "speed-up", "messages", "sent");
}

void print_row(const Forecast& forecast, const StepCost& cost, double alone) {
  const std::string hidden =
      forecast.processes > 1 ? fmt::format("{:.0f} %", 100 * forecast.hidden()) : "-";
  fmt::print("{:>9} {:>8} {:>11.2f} {:>12.2f} {:>8} {:>9.2f} {:>9.2f} {:>9} {:>10}\n",
             forecast.processes, ceil_div(cost.shards, forecast.processes), 1e3 * forecast.compute,
             1e3 * forecast.exchange, hidden, 1e3 * forecast.step(), alone / forecast.step(),
             forecast.messages, format_bytes(forecast.bytes));
}

Json json_of(const Forecast& forecast, const Network& network) {
  return Json{{"processes", forecast.processes},
              {"threads", thread_count()},
              {"compute_ms", 1e3 * forecast.compute},
              {"exchange_ms", 1e3 * forecast.exchange},
              {"hidden", forecast.hidden()},
              {"step_ms", 1e3 * forecast.step()},
              {"messages", forecast.messages},
              {"bytes", forecast.bytes},
              {"network_gbs", 8e-9 * network.bytes_per_second},
              {"latency_us", 1e6 * network.latency}};
}

/// Prints the measured step. Waiting includes slower processes, so the hidden part is computed from
/// the step.
void print_measured(const Measured& measured, const Forecast& forecast) {
  const double shown = std::max(0.0, measured.step - forecast.compute);
  fmt::print(
      "measured {:.2f} ms a step with {} processes, {:+.1f} % of the prediction; {:.0f} % of the "
      "exchange hidden, {:.2f} ms of waiting after the passes\n",
      1e3 * measured.step, forecast.processes, 100 * (measured.step / forecast.step() - 1),
      100 * (1 - std::min(1.0, shown / std::max(forecast.exchange, 1e-9))), 1e3 * measured.waited);
}

std::vector<std::size_t> parse_counts(const std::string& list) {
  std::vector<std::size_t> counts;
  for (const std::string& word : split_list(list)) {
    const auto count = parse_count(word);
    demand(count && *count > 0, "--processes {}: must be numbers above 0", list);
    counts.push_back(*count);
  }
  return counts;
}

/// Returns the counts that have enough shards, and the number of started processes.
std::vector<std::size_t> possible(std::vector<std::size_t> counts, std::size_t shards,
                                  std::size_t started) {
  std::erase_if(counts, [&](std::size_t count) { return count > shards; });
  if (started > 1 && std::ranges::count(counts, started) == 0) counts.push_back(started);
  return counts;
}

void bench_scale_command(const ScaleOptions& options) {
  require_measurable("--steps", options.steps);
  const std::vector<std::size_t> counts = parse_counts(options.counts);
  const bool asked = !options.network.empty();
  Network network = parse_network(asked ? options.network : usual_network);
  SharedWork work(*options.line);
  Processes& processes = work.processes();
  const Config config = work.first_alone([&] { return read_config(options.config, options.sets); });
  const auto task = work.first_alone([&] { return make_task(config); });
  demand(config.count("train.shards") >= processes.size(),
         "train.shards = {}: must be at least the number of processes, {}",
         config.count("train.shards"), processes.size());
  StepCost cost = measure_alone(config, *task, options.steps);
  Measured measured;
  if (processes.size() > 1) {
    take_slowest(cost, processes);
    if (!asked) network = measure_network(processes);
    measured = measure_together(config, processes, options.steps);
  }
  work.end();
  if (!work.leads()) return;
  const double alone = forecast_of(cost, 1, network).step();
  if (!options.json)
    print_head(cost, network,
               asked                  ? "from --network"
               : processes.size() > 1 ? "measured between the processes"
                                      : "assumed; set it with --network");
  for (const std::size_t count : possible(counts, cost.shards, processes.size())) {
    const Forecast forecast = forecast_of(cost, count, network);
    const bool is_here = processes.size() > 1 && count == processes.size();
    if (options.json) {
      Json line = json_of(forecast, network);
      if (is_here)
        line.set("measured_ms", 1e3 * measured.step).set("waited_ms", 1e3 * measured.waited);
      print_line(line);
      continue;
    }
    print_row(forecast, cost, alone);
  }
  if (processes.size() > 1 && !options.json)
    print_measured(measured, forecast_of(cost, processes.size(), network));
}

}  // namespace

void add_scale_bench(const Command& bench) {
  const auto [command, options] = bench.command(
      "scale", "time a training step and predict it for many processes", bench_scale_command);
  options.line = command.shares_work();
  add_config_file(command, options.config);
  command.option(
      "--network", &options.network,
      "bandwidth and latency of each process's link, such as 10Gb,20us (default: measured "
      "under mpirun, else 10Gb,20us)",
      "SPEED,LATENCY");
  command.option("--processes", &options.counts, "numbers of processes", "LIST").shows_default();
  command.number("--steps", &options.steps, "steps to measure, after two warm-up steps");
  add_sets(command, options.sets);
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner
