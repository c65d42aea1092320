/// A training step of a language model with 10,000 tokens, 64 texts of 64, by exact softmax and by
/// sampled softmax: CPU time of one thread; items are tokens.

#include <benchmark/benchmark.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/bochner.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t vocabulary = 10000, texts = 64, length = 64;

LanguageModelSpec spec_of(const std::string& loss, std::size_t width, std::size_t draws) {
  LanguageModelSpec spec;
  spec.vocabulary = vocabulary, spec.length = length, spec.blocks = 1;
  spec.block.width = width, spec.block.mixer.kind = "softmax";
  spec.loss.kind = loss, spec.noise.draws = draws;
  return spec;
}

/// Returns tokens with probabilities proportional to 1 / (10 + index), as in a language.
Indices tokens(std::uint64_t stream) {
  Indices all{{texts, length}, {}};
  const RandomFunction random{1, Purpose::test, stream};
  for (std::size_t i = 0; i < texts * length; ++i) {
    const double scale = double(vocabulary + 10) / 10;
    all.values.push_back(std::int32_t(10 * (std::pow(scale, random.uniform(i)) - 1)));
  }
  return all;
}

std::vector<double> counts_of(const Indices& all) {
  std::vector<double> counts(vocabulary);
  for (const std::int32_t token : all.values) ++counts[std::size_t(token)];
  return counts;
}

void step(benchmark::State& state, const std::string& loss) {
  set_thread_count(1);
  LanguageModel model(spec_of(loss, std::size_t(state.range(0)), std::size_t(state.range(1))));
  initialize(model, 1);
  const Indices inputs = tokens(1), targets = tokens(2);
  if (model.noise()) model.noise()->count(counts_of(targets));
  const auto optimizer = make_optimizer({}, parameters_of(model));
  PassOptions options{.training = true};
  for (auto _ : state) {
    Tape tape(options);
    tape.backward(model.loss(tape, inputs, targets));
    optimizer->step(1e-4);
    optimizer->zero_gradients();
    ++options.step;
  }
  state.SetItemsProcessed(std::int64_t(state.iterations() * texts * length));
}

BENCHMARK_CAPTURE(step, exact, "cross_entropy")->Args({64, 1})->Args({128, 1});
BENCHMARK_CAPTURE(step, sampled_softmax, "sampled_softmax")->ArgsProduct({{64, 128}, {512, 1024}});
BENCHMARK_CAPTURE(step, nce, "nce")->ArgsProduct({{64, 128}, {512, 1024}});

}  // namespace
}  // namespace bochner
