#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/latent/latent_data.hpp>
#include <bochner/train/tasks/latent/vae_learner.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>

namespace bochner {
namespace {

constexpr std::uint64_t most_draws = 1 << 16;
constexpr std::size_t pictured_examples = 32, pictured_samples = 64, measured_examples = 256;

/// Trains a variational autoencoder.
class VaeTask : public Task, public BoundsByDraws {
 public:
  VaeTask(const Config& config, const KnownFacts& known)
      : data_(make_latent_data(config, known)),
        learner_(config, make_latent_format(config, {data_->facts()})),
        model_(learner_.autoencoder()),
        seed_(config.count("train.seed")) {
    data_->fit(model_);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_->data(); }
  TaskAbilities abilities() override { return {.bounds = this}; }

  Var loss(Tape& tape, const Examples& examples) override {
    const RandomFunction random{seed_, Purpose::sampling, stream_of("latent draws") + tape.step};
    return model_.loss(tape, data_->batch(examples, model_),
                       noise_of(examples, model_.spec().latent.draws, random));
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
            {"outputs", array_of(learner_.decoded(x))}};
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
  }

 private:
  /// Draws standard normal numbers that depend on the example, not on its batch. (K, B, d)
  Tensor noise_of(const Examples& examples, std::size_t K, const RandomFunction& random) const {
    const std::size_t B = examples.size(), d = model_.spec().latent.size;
    Tensor noise = uninitialized({K, B, d});
    for (std::size_t i = 0; i < noise.size(); ++i) {
      const std::uint64_t draw = examples.index(i / d % B) * most_draws + i / (B * d);
      noise.data()[i] = real(random.normal(draw * d + i % d));
    }
    return noise;
  }

  /// Draws the divergence of each latent dimension, the largest first.
  Chart divergence_chart(const Observed& x) {
    Tape tape({.recording = false});
    const std::size_t d = model_.spec().latent.size;
    const Tensor each = kl_divergence(model_.encode(tape, x)).value();
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

std::unique_ptr<Task> open_vae_task(const Config& config, const KnownFacts& known) {
  return std::make_unique<VaeTask>(config, known);
}

std::unique_ptr<Learner> vae_learner(const Config& config, const KnownFacts& facts) {
  return std::make_unique<VaeLearner>(config, make_latent_format(config, facts));
}

void check_latent(const Config& config) {
  const std::string &data = config.text("data.kind"), draws = "model.vae.draws";
  if (config.text("model.vae.gradient") == "score" && config.integer(draws) < 2)
    fail(config, draws, "must be at least 2 with " + assignment(config, "model.vae.gradient"),
         "model.vae.gradient");
  if (config.text("model.positions") == "encoding")
    fail(config, "model.positions",
         "must not be \"encoding\" for " + assignment(config, "model.kind"), "model.kind");
  if (has_words(config))
    fail(config, "data.tokenizer.kind", "must be \"bytes\" for " + assignment(config, "model.kind"),
         "model.kind");
  if (data != "series") return;
  check_series(config);
  if (config.integer("data.lookback") % config.integer("model.patch.length") != 0)
    fail(config, "model.patch.length", "must divide " + assignment(config, "data.lookback"),
         "data.lookback");
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

[optim]
lr = 2e-3
schedule.kind = "cosine"
schedule.warmup = {warmup}

[train]
batch = 32
steps = {steps}
validate.every = {validate}
)";

void add_latent_kinds(TaskKinds& kinds) {
  const auto add = [&](const char* data, const char* validation,
                       ReadOptions (*read)(const Config&)) {
    kinds.push_back({.data = data,
                     .model = "vae",
                     .open = open_vae_task,
                     .learn = vae_learner,
                     .validation = validation,
                     .check = check_latent,
                     .read = read});
  };
  add("images", validation_fraction, nullptr);
  add("shapes", validation_examples, nullptr);
  add("series", validation_splits, series_options);
  add("bytes", validation_fraction, nullptr);
}

}  // namespace bochner
