#include <fmt/format.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/run/version.hpp>
#include <cmath>
#include <optional>

namespace bochner {
namespace {

constexpr std::size_t usual_features = 1024;

struct BenchProcessOptions {
  std::size_t rows = 4000, inputs = 2;
  std::optional<std::size_t> features;
  std::string method = "exact";
  bool json = false;
};

/// Table with inputs uniform on [0, 10]; targets are a sum of one wave per input plus noise of
/// standard deviation 0.1.
struct Table {
  std::vector<std::vector<double>> inputs;
  std::vector<double> targets;

  Table(std::size_t rows, std::size_t columns) : targets(rows) {
    for (std::size_t j = 0; j < columns; ++j) {
      const RandomFunction random{1, Purpose::examples, j};
      inputs.emplace_back(rows);
      for (std::size_t i = 0; i < rows; ++i) {
        inputs[j][i] = 10 * random.uniform(i);
        targets[i] += std::sin((1 - 0.3 * double(j)) * inputs[j][i]) / std::sqrt(double(columns));
      }
    }
    const RandomFunction random{1, Purpose::examples, columns};
    for (std::size_t i = 0; i < rows; ++i) targets[i] += 0.1 * random.normal(i);
  }
};

/// Returns the settings of bench/torch_process.py: a Gaussian kernel of length 1 and variance 1.
GaussianProcessSpec spec_of(const BenchProcessOptions& options) {
  GaussianProcessSpec spec{.inputs = options.inputs, .method = options.method, .trend = "none"};
  spec.density.kind = "gaussian";
  spec.density.start = "none";
  spec.density.m = options.features.value_or(usual_features) / 2;
  return spec;
}

struct Gradient {
  double seconds, memory, likelihood;
};

Gradient measure_gradient(const BenchProcessOptions& options) {
  const Table table(options.rows, options.inputs);
  GaussianProcess process(spec_of(options));
  initialize(process, 1);
  double likelihood = 0;
  const double seconds = median_seconds([&] {
    Tape tape;
    const Var sum = process.log_likelihood(tape, {table.inputs, table.targets});
    tape.backward(sum);
    likelihood = double(sum.data()[0]) / double(options.rows);
  });
  return {seconds, peak_memory(), likelihood};
}

void bench_process_command(const BenchProcessOptions& options) {
  require_measurable("--rows", options.rows);
  require_measurable("--inputs", options.inputs);
  demand(options.features.value_or(usual_features) > 1,
         "--features: must be at least 2, cosines and sines");
  const bool known =
      options.method == "exact" || options.method == "cg" || options.method == "features";
  demand(known, "--method {}: must be exact, cg or features", options.method);
  demand(!options.features || options.method == "features",
         "--features applies to --method features, not to {}", options.method);
  const Gradient measured = numbers_in_child([&] { return measure_gradient(options); });
  if (options.json)
    return print_line({{"rows", options.rows},
                       {"inputs", options.inputs},
                       {"method", options.method},
                       {"threads", thread_count()},
                       {"gradient_ms", 1e3 * measured.seconds},
                       {"likelihood", measured.likelihood},
                       {"rss_mb", std::round(measured.memory / (1 << 20))}});
  fmt::print("{} · {}\n{} rows, {} inputs, {}: {:.1f} ms for a gradient, ln p {:.6f} a row, {}\n",
             version_line(), format_number_of(thread_count(), "thread"), options.rows,
             options.inputs, options.method, 1e3 * measured.seconds, measured.likelihood,
             format_bytes(measured.memory));
}

}  // namespace

void add_process_bench(const Command& bench) {
  const auto [command, options] = bench.command(
      "process", "time the marginal likelihood of a Gaussian process with its gradient",
      bench_process_command);
  command.number("--rows", &options.rows, "rows of the table");
  command.number("--inputs", &options.inputs, "input columns");
  command.option("--method", &options.method, "exact, cg or features").shows_default();
  command.option(
      "--features", &options.features,
      fmt::format("number of cosines and sines of --method features (default: {})", usual_features),
      "N");
  command.flag("--json", &options.json, "print JSON");
}

}  // namespace bochner
