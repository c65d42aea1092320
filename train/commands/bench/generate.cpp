#include <fmt/format.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/commands/bench/reference_models.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/output.hpp>

namespace bochner {
namespace {

struct BenchGenerateOptions {
  std::string model = "performer-lm";
  std::size_t texts = 64, tokens = 1000, position = 0;
  bool json = false;
};

/// Feeds random tokens to a model, one per text of a batch.
class Feed {
 public:
  Feed(LanguageModel& model, std::size_t texts)
      : model_(model), state_(model.start()), tokens_(texts) {}

  void next() {
    const RandomFunction random{1, Purpose::test, 4};
    for (std::size_t b = 0; b < tokens_.size(); ++b)
      tokens_[b] = std::int32_t(random.integer(fed_++, vocabulary_));
    const Tensor logits = model_.step(tokens_, state_);
    vocabulary_ = logits.shape()[1];
  }

 private:
  LanguageModel& model_;
  LanguageModel::State state_;
  std::vector<std::int32_t> tokens_;
  std::size_t vocabulary_ = 1;
  std::uint64_t fed_ = 0;
};

struct Pace {
  double step;     ///< median seconds per token
  double memory;   ///< peak bytes
  double reading;  ///< seconds to read the weights of a step
};

/// Returns the bytes of parameters read per step: of the embedding, one row per text.
std::size_t weights_of_step(LanguageModel& model, std::size_t texts) {
  std::size_t numbers = 0;
  for (const auto& [name, parameter] : parameters_of(model)) {
    const Tensor& value = parameter->value();
    numbers += name == "embedding.weight" ? texts * value.shape()[1] : value.size();
  }
  return numbers * sizeof(real);
}

/// Returns the median seconds of a step after a tenth of uncounted ones.
double median_step(Feed& feed, std::size_t tokens) {
  for (std::size_t i = 0; i < tokens / 10 + 3; ++i) feed.next();
  std::vector<double> seconds(tokens);
  for (double& time : seconds) time = seconds_of([&] { feed.next(); });
  return median(seconds);
}

Pace measure_pace(const ReferenceModel& reference, const BenchGenerateOptions& options,
                  std::size_t texts) {
  const auto model = make_generator(reference);
  Feed feed(*model, texts);
  for (std::size_t i = 0; i < options.position; ++i) feed.next();
  const std::size_t weights = weights_of_step(*model, texts);
  return {median_step(feed, options.tokens), peak_memory(),
          double(weights) / measure_reading(weights, thread_count())};
}

void print_pace(const ReferenceModel& reference, const BenchGenerateOptions& options,
                std::size_t texts, const Pace& pace) {
  const double rate = double(texts) / pace.step;
  if (options.json)
    return print_line({{"model", reference.name},
                       {"threads", thread_count()},
                       {"texts", texts},
                       {"position", options.position},
                       {"step_us", 1e6 * pace.step},
                       {"tokens_per_s", std::round(rate)},
                       {"rss_mb", std::round(pace.memory / (1 << 20))},
                       {"weights_us", 1e6 * pace.reading}});
  fmt::print("{:<17} {:>6} {:>10} {:>12.1f} {:>12} {:>10} {:>10.0f} %\n", reference.name, texts,
             options.position, 1e6 * pace.step, format_count(rate), format_bytes(pace.memory),
             100 * pace.reading / pace.step);
}

void bench_generate_command(const BenchGenerateOptions& options) {
  require_measurable("--texts", options.texts);
  require_measurable("--tokens", options.tokens);
  const auto models = reference_models("bench generate", options.model, writes_text);
  if (!options.json)
    fmt::print("{} · {}\n{:<17} {:>6} {:>10} {:>12} {:>12} {:>10} {:>12}\n", version_line(),
               format_number_of(thread_count(), "thread"), "model", "texts", "position",
               "us a step", "tokens/s", "memory", "of reading");
  for (const ReferenceModel& reference : models)
    for (const std::size_t texts : {std::size_t(1), options.texts}) {
      print_pace(reference, options, texts,
                 numbers_in_child([&] { return measure_pace(reference, options, texts); }));
      flush_output();
      if (options.texts == 1) break;
    }
}

}  // namespace

void add_generate_bench(const Command& bench) {
  const auto [command, options] =
      bench.command("generate", "time token-by-token generation of one text and of a batch",
                    bench_generate_command);
  command.option("model", &options.model, reference_model_names(writes_text)).shows_default();
  command.number("--texts", &options.texts, "texts in the batch");
  command.number("--tokens", &options.tokens, "tokens per text to measure");
  command.number("--position", &options.position, "tokens before the measured ones");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner
