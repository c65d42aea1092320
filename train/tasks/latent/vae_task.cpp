#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/latent/categories.hpp>
#include <bochner/train/tasks/latent/latent_format.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>

namespace bochner {
namespace {

constexpr std::size_t examples_at_once = 64;

VaeSpec vae_spec(const Config& config, const LatentFormat& format) {
  auto spec = read_spec<VaeSpec>(config, "model");
  for (std::size_t* steps : {&spec.latent.warmup, &spec.latent.discrete.anneal})
    *steps *= config.count("train.accumulate");
  format.complete(spec);
  complete(spec.stack, config, spec.tokens);
  return spec;
}

/// Returns examples first, ..., first + count - 1.
Observed part_of(const Observed& x, std::size_t first, std::size_t count) {
  if (x.symbols.shape.empty()) return {slice(Var(x.values), 0, first, first + count).value(), {}};
  const std::size_t T = x.symbols.shape[1];
  const auto begin = x.symbols.values.begin() + std::ptrdiff_t(first * T);
  return {{}, {{count, T}, {begin, begin + std::ptrdiff_t(count * T)}}};
}

/// Concatenates f(tape, first, count) of consecutive parts of B examples.
template <class F>
Tensor by_parts(std::size_t B, const F& f) {
  std::vector<Var> parts;
  for (std::size_t first = 0; first < B; first += examples_at_once) {
    Tape tape({.recording = false});
    parts.push_back(Var(f(tape, first, std::min(examples_at_once, B - first)).value()));
  }
  return concat(parts, 0).value();
}

/// Returns the function for data.kind.
template <class Make>
Make* by_kind(const Config& config, Make* of_images, Make* of_series, Make* of_texts) {
  const std::string& kind = config.text("data.kind");
  return kind == "series" ? of_series : kind == "bytes" ? of_texts : of_images;
}

/// Reconstructs examples from their latent variables, and samples from the prior.
class VaeLearner : public Learner,
                   public AnswersTables,
                   public AnswersTexts,
                   public HasLatent,
                   public HasSpecimens {
 public:
  VaeLearner(const Config& config, const KnownFacts& facts)
      : format_(by_kind(config, latent_image_format, latent_series_format, latent_text_format)(
            config, facts)),
        model_(vae_spec(config, *format_)) {
    initialize(model_, config.count("train.seed"));
  }

  VariationalAutoencoder& model() override { return model_; }
  std::string describe() const override {
    const VaeSpec& spec = model_.spec();
    const DiscreteSpec& discrete = spec.latent.discrete;
    return fmt::format("vae, {}, {}, latent {}", describe_stack(spec.stack),
                       format_number_of(spec.tokens, "token"), spec.latent.size) +
           (discrete.exists()
                ? fmt::format(" + {} x {} categories", discrete.variables, discrete.categories)
                : "");
  }
  std::string facts() const override { return format_->facts(); }
  Json sizes() const override { return Json{{"length", model_.spec().tokens}}; }
  LearnerAbilities abilities() override {
    const bool texts = format_->reads_texts();
    return {.tables = texts ? nullptr : this,
            .texts = texts ? this : nullptr,
            .latent = this,
            .specimens = this};
  }

  ReadOptions read_options() const override { return format_->read_options(); }
  std::vector<std::string> input_columns() const override { return format_->columns(); }
  /// Returns the expected example given the latent mean of each example.
  NamedArray predict(const NamedArray& question) override {
    return expected(format_->read(question, model_));
  }
  NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t) override {
    return expected(format_->read_texts(texts));
  }

  NamedArray sample(std::size_t count, std::uint64_t seed) override {
    const std::size_t d = model_.spec().latent.size;
    const DiscreteSpec& discrete = model_.spec().latent.discrete;
    const std::size_t N = discrete.exists() ? discrete.variables : 0, K = discrete.categories;
    Tensor z = zeros({count, d + N * K});
    const RandomFunction random{seed, Purpose::sampling, stream_of("prior")},
        categories{seed, Purpose::sampling, stream_of("prior of categories")};
    for (std::size_t i = 0; i < count * d; ++i) z(i / d, i % d) = real(random.normal(i));
    for (std::size_t i = 0; i < count * N; ++i)
      z(i / N, d + i % N * K + categories.integer(i, K)) = 1;
    return expected_of(z);
  }
  /// Returns the examples expected given latent variables. (B, w)
  NamedArray expected_of(const Tensor& z) {
    const Tensor each =
        by_parts(z.shape()[0], [&](Tape& tape, std::size_t first, std::size_t rows) {
          return model_.decode(tape, slice(Var(z), 0, first, first + rows));
        });
    return format_->expected(each, model_);
  }
  NamedArray latent(const NamedArray& examples) override {
    return latent_of(format_->read(examples, model_));
  }
  NamedArray latent_of_texts(const std::vector<std::string>& texts) override {
    return latent_of(format_->read_texts(texts));
  }

  std::size_t specimens() const override { return format_->specimens(); }
  /// Computes the bound at the latent mean and the most probable categories.
  void forward_specimen(Tape& tape, std::size_t i) override {
    model_.bounds(tape, format_->specimen(i, model_), zeros({1, 1, model_.spec().latent.width()}));
  }

  const LatentFormat& format() const { return *format_; }
  /// Returns most_probable() latent variables. (B, w)
  Tensor most_probable_of(const Observed& x) {
    return by_parts(x.size(), [&](Tape& tape, std::size_t first, std::size_t count) {
      return most_probable(model_.encode(tape, part_of(x, first, count)));
    });
  }
  /// Returns the output of the decoder at the latent mean of each example. (B, T, n)
  Tensor decoded(const Observed& x) {
    return by_parts(x.size(), [&](Tape& tape, std::size_t first, std::size_t count) {
      return model_.decode(tape, most_probable(model_.encode(tape, part_of(x, first, count))));
    });
  }
  NamedArray expected(const Observed& x) { return format_->expected(decoded(x), model_); }

 private:
  NamedArray latent_of(const Observed& x) {
    const Tensor both = by_parts(x.size(), [&](Tape& tape, std::size_t first, std::size_t count) {
      const LatentRows q = model_.encode(tape, part_of(x, first, count));
      std::vector<Var> parts{q.normal.mean, exp(q.normal.log_variance * 0.5)};
      if (q.discrete.exist()) parts.push_back(Var(chosen_categories(q.discrete.logits.value())));
      return concat(parts, 1);
    });
    NamedArray table{both, {}};
    const LatentSpec& spec = model_.spec().latent;
    for (const char* what : {"mean", "deviation"})
      for (std::size_t i = 0; i < spec.size; ++i)
        table.columns.push_back(fmt::format("{}_{}", what, i + 1));
    for (const char* what : {"category", "probability"})
      for (std::size_t i = 0; spec.discrete.exists() && i < spec.discrete.variables; ++i)
        table.columns.push_back(fmt::format("{}_{}", what, i + 1));
    return table;
  }

  std::unique_ptr<LatentFormat> format_;
  VariationalAutoencoder model_;
};

constexpr std::uint64_t most_draws = 1 << 16;
constexpr std::size_t pictured_examples = 32, pictured_samples = 64, measured_examples = 256;

/// Trains a variational autoencoder.
class VaeTask : public Task, public BoundsByDraws {
 public:
  VaeTask(const Config& config, const KnownFacts& known)
      : data_(by_kind(config, latent_images, latent_series, latent_texts)(config, known)),
        learner_(config, {data_->facts()}),
        model_(learner_.model()),
        seed_(config.count("train.seed")) {
    data_->fit(model_);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_->data(); }
  TaskAbilities abilities() override { return {.bounds = this}; }

  Var loss(Tape& tape, const Examples& examples) override {
    return model_.loss(tape, data_->batch(examples, model_), training_noise(examples, tape.step));
  }

  /// Returns the same bound for the same examples.
  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const RandomFunction random{seed_, Purpose::sampling, stream_of("latent draws of bounds")};
    const LatentBounds bounds =
        model_.bounds(tape, data_->batch(examples, model_), noise_of(examples, draws_, random));
    Evaluation result{0, examples.size(), "nats", {}};
    double reconstruction = 0, divergence = 0, weighted = 0;
    for (std::size_t b = 0; b < examples.size(); ++b) {
      reconstruction -= bounds.reconstruction[b];
      divergence += bounds.divergence[b];
      weighted -= bounds.weighted[b];
    }
    result.loss_sum = draws_ > 1 ? weighted : reconstruction + divergence;
    if (draws_ > 1)
      result.measures.push_back({"elbo", "without weights", reconstruction + divergence});
    result.measures.push_back({"reconstruction", "reconstruction", reconstruction});
    result.measures.push_back({"kl", "kl", divergence});
    return result;
  }

  NamedArrays arrays(const Examples& examples) override {
    const Observed x = data_->batch(examples, model_);
    const bool symbols = !x.symbols.shape.empty();
    return {{symbols ? "tokens" : "values", symbols ? array_of(x.symbols) : array_of(x.values)},
            {"outputs", array_of(learner_.decoded(x))},
            {"noise", array_of(training_noise(examples, 0))}};
  }

  void evaluate_by(std::size_t draws) override {
    require(draws > 0 && draws <= most_draws, "vae", draws, " draws: must be between 1 and ",
            most_draws);
    draws_ = draws;
  }

  void illustrate(Page& page) override {
    const std::uint64_t held_out = data().examples(Split::validation);
    page.section("Latent variable",
                 "Reconstructions of held-out examples from their latent means, and samples from "
                 "the prior.");
    if (held_out == 0) return;
    const auto first = [&](std::size_t most) {
      const std::size_t count = std::min<std::uint64_t>(most, held_out);
      return data_->batch(data().in_order(Split::validation, 0, count), model_);
    };
    const Observed seen = first(pictured_examples);
    learner_.format().draw(page, learner_.format().as_array(seen, model_), learner_.expected(seen),
                           learner_.sample(pictured_samples, seed_));
    page.charts({draw(divergence_chart(first(measured_examples)))});
    if (model_.spec().latent.discrete.exists())
      illustrate_categories(page, learner_.most_probable_of(first(measured_examples)));
  }

 private:
  /// Draws standard normal numbers that depend on the example, not on its batch. (S, B, w)
  Tensor noise_of(const Examples& examples, std::size_t S, const RandomFunction& random) const {
    const std::size_t B = examples.size(), w = model_.spec().latent.width();
    Tensor noise = uninitialized({S, B, w});
    for (std::size_t i = 0; i < noise.size(); ++i) {
      const std::uint64_t draw = examples.index(i / w % B) * most_draws + i / (B * w);
      noise.data()[i] = real(random.normal(draw * w + i % w));
    }
    return noise;
  }
  Tensor training_noise(const Examples& examples, std::uint64_t step) const {
    return noise_of(examples, model_.spec().latent.draws,
                    {seed_, Purpose::sampling, stream_of("latent draws") + step});
  }

  /// Writes and draws how often each category is the most probable one, and what is expected given
  /// each. z (B, w)
  void illustrate_categories(Page& page, const Tensor& z) {
    const LatentSpec& spec = model_.spec().latent;
    const std::vector<double> shares = category_shares(z, spec);
    draw_usage(page, shares, z.shape()[0], spec.discrete);
    const EachCategory each = each_category(shares, spec);
    learner_.format().draw_categories(page, learner_.expected_of(each.z), each.names);
  }

  /// Draws the divergence of each latent dimension and discrete variable, the largest first.
  Chart divergence_chart(const Observed& x) {
    Tape tape({.recording = false});
    const Tensor each = kl_divergence(model_.encode(tape, x)).value();
    const std::size_t d = each.shape()[1];
    Curve curve{{}, std::vector<double>(d)};
    for (std::size_t i = 0; i < each.size(); ++i)
      curve.y[i % d] += double(each.data()[i]) / double(x.size());
    std::ranges::sort(curve.y, std::greater());
    for (std::size_t i = 0; i < d; ++i) curve.x.push_back(double(i + 1));
    Chart chart{.title = "divergence from the prior by latent dimension",
                .x = {"dimension, the largest first"},
                .y = {"nats", Scale::linear, 0}};
    chart.add("", curve, Mark::line_and_points);
    return chart;
  }

  std::unique_ptr<LatentData> data_;
  VaeLearner learner_;
  VariationalAutoencoder& model_;
  std::uint64_t seed_;
  std::size_t draws_ = 1;  // of an evaluation
};

void check_latent_variables(const Config& config) {
  const std::string latent = "model.vae.latent", categories = "model.vae.discrete.categories",
                    gradient = "model.vae.discrete.gradient", draws = "model.vae.draws";
  const bool by_score = config.text("model.vae.gradient") == "score";
  if (by_score && config.integer(latent) > 0 && config.integer(draws) < 2)
    fail_over(config, draws, "must be at least 2 with", "model.vae.gradient");
  const std::size_t K = config.count(categories);
  if (config.integer(latent) == 0 && K == 0)
    fail_over(config, latent, "must be at least 1 with", categories);
  if (K == 1) fail(config, categories, "must be 0 or at least 2");
  if (K > 0 && config.text(gradient) == "exact" &&
      count_categories(config.count("model.vae.discrete.variables"), K, most_exact_values) >
          most_exact_values)
    fail(config, gradient,
         fmt::format("sums over all values of the discrete variables, at most {}; reduce {} or {}",
                     most_exact_values, categories, "model.vae.discrete.variables"),
         categories);
}

void check_latent(const Config& config) {
  const std::string& data = config.text("data.kind");
  check_latent_variables(config);
  if (config.text("model.positions") == "encoding")
    fail_over(config, "model.positions", "must not be \"encoding\" for", "model.kind");
  if (has_words(config))
    fail_over(config, "data.tokenizer.kind", "must be \"bytes\" for", "model.kind");
  if (data != "series") return;
  check_series(config);
  if (config.integer("data.lookback") % config.integer("model.patch.length") != 0)
    fail_over(config, "model.patch.length", "must divide", "data.lookback");
}

}  // namespace

const char vae_template[] = R"(# A variational autoencoder of images. See docs/vae.md.

[model]
kind = "vae"
blocks = 2
width = 64
patch.pixels = 4              # a token is 4 x 4 pixels; must divide both sides
mixer = {{ kind = "softmax", heads = 4 }}

[model.vae]
latent = 16
warmup = 100                  # steps until the KL term has its full weight

[data]
kind = "images"               # IDX or CIFAR; or shapes, series, bytes
files = [{files}]
validation = 0.1              # the last part of the images
)";

void add_latent_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "vae", open_as<VaeTask>, learn_as<VaeLearner>};
  add("images", validation_fraction, check_latent);
  add("shapes", validation_examples, check_latent);
  add("series", validation_splits, check_latent, series_options);
  add("bytes", validation_fraction, check_latent);
}

}  // namespace bochner
