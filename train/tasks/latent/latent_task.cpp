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
#include <bochner/train/tasks/latent/latent_data.hpp>
#include <bochner/train/tasks/latent/latent_task.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

constexpr std::uint64_t most_draws = 1 << 16;
constexpr std::size_t pictured_examples = 32, pictured_samples = 64, measured_examples = 256,
                      examples_at_once = 64;

VaeSpec vae_spec(const Config& config) {
  auto spec = read_spec<VaeSpec>(config, "model");
  spec.latent.warmup *= config.count("train.accumulate");
  return spec;
}

VaeSpec vae_spec(const Config& config, const LatentData& data) {
  VaeSpec spec = vae_spec(config);
  data.complete(spec);
  complete(spec.stack, config, spec.tokens);
  return spec;
}

/// Examples first, ..., first + count - 1.
Observed part_of(const Observed& x, std::size_t first, std::size_t count) {
  if (x.symbols.shape.empty()) return {slice(Var(x.values), 0, first, first + count).value(), {}};
  const std::size_t T = x.symbols.shape[1];
  const auto begin = x.symbols.values.begin() + std::ptrdiff_t(first * T);
  return {{}, {{count, T}, {begin, begin + std::ptrdiff_t(count * T)}}};
}

/// f(tape, first, count) of parts of B examples, one after the other.
template <class F>
Tensor by_parts(std::size_t B, const F& f) {
  std::vector<Var> parts;
  for (std::size_t first = 0; first < B; first += examples_at_once) {
    Tape tape({.recording = false});
    parts.push_back(Var(f(tape, first, std::min(examples_at_once, B - first)).value()));
  }
  return concat(parts, 0).value();
}

/// A variational autoencoder.
class VaeTask : public LatentTask {
 public:
  explicit VaeTask(const Config& config)
      : data_(make_latent_data(config)),
        model_(vae_spec(config, *data_)),
        seed_(config.count("train.seed")) {
    initialize(model_, seed_);
    data_->fit(model_);
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return data_->data(); }
  Vocabularies names() const override { return data_->names(); }
  std::vector<std::string> input_columns() const override { return data_->columns(); }
  Json sizes() const override { return Json{{"length", model_.spec().tokens}}; }

  Var loss(Tape& tape, const Examples& examples) override {
    const RandomFunction random{seed_, Purpose::sampling, stream_of("latent draws") + tape.step};
    return model_.loss(tape, data_->batch(examples, model_),
                       noise_of(examples, model_.spec().latent.draws, random));
  }

  /// The same examples get the same bound.
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
            {"outputs", array_of(decoded_of(x))}};
  }

  void evaluate_by(std::size_t draws) override {
    require(draws > 0 && draws <= most_draws, "vae", draws, " draws: must be between 1 and ",
            most_draws);
    draws_ = draws;
  }

  NamedArray predict(const NamedArray& input) override {
    return expected_of(data_->read(input, model_));
  }
  NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t) override {
    return expected_of(data_->read_texts(texts));
  }
  NamedArray latent(const NamedArray& input) override {
    return latent_of(data_->read(input, model_));
  }
  NamedArray latent_of_texts(const std::vector<std::string>& texts) override {
    return latent_of(data_->read_texts(texts));
  }

  NamedArray sample(std::size_t count, std::uint64_t seed) override {
    Tensor z = uninitialized({count, model_.spec().latent.size});
    const RandomFunction random{seed, Purpose::sampling, stream_of("prior")};
    for (std::size_t i = 0; i < z.size(); ++i) z.data()[i] = real(random.normal(i));
    const Tensor each = by_parts(count, [&](Tape& tape, std::size_t first, std::size_t rows) {
      return model_.decode(tape, slice(Var(z), 0, first, first + rows));
    });
    return data_->expected(each, model_);
  }

  std::string describe_model() const override {
    const VaeSpec& spec = model_.spec();
    return fmt::format("vae, {}, {}, latent {}", describe_stack(spec.stack),
                       format_number_of(spec.tokens, "token"), spec.latent.size);
  }

  void illustrate(Page& page) override {
    const std::uint64_t held_out = data().examples(Split::validation);
    page.section("Latent variable",
                 "What is expected given the latent mean of held-out examples, and given draws "
                 "from the prior.");
    if (held_out == 0) return;
    const auto first = [&](std::size_t most) {
      const std::size_t count = std::min<std::uint64_t>(most, held_out);
      return data_->batch(data().in_order(Split::validation, 0, count), model_);
    };
    const Observed seen = first(pictured_examples);
    data_->draw(page, data_->as_array(seen, model_), expected_of(seen),
                sample(pictured_samples, seed_));
    page.charts({draw(divergence_chart(first(measured_examples)))});
  }

 private:
  /// Standard normal numbers, functions of the example wherever it stands. (K, B, d)
  Tensor noise_of(const Examples& examples, std::size_t K, const RandomFunction& random) const {
    const std::size_t B = examples.size(), d = model_.spec().latent.size;
    Tensor noise = uninitialized({K, B, d});
    for (std::size_t i = 0; i < noise.size(); ++i) {
      const std::uint64_t draw = examples.index(i / d % B) * most_draws + i / (B * d);
      noise.data()[i] = real(random.normal(draw * d + i % d));
    }
    return noise;
  }

  /// Given the latent mean of each example. (B, T, n)
  Tensor decoded_of(const Observed& x) {
    return by_parts(x.size(), [&](Tape& tape, std::size_t first, std::size_t count) {
      return model_.decode(tape, model_.encode(tape, part_of(x, first, count)).mean);
    });
  }
  NamedArray expected_of(const Observed& x) { return data_->expected(decoded_of(x), model_); }

  NamedArray latent_of(const Observed& x) {
    const Tensor both = by_parts(x.size(), [&](Tape& tape, std::size_t first, std::size_t count) {
      const NormalRows q = model_.encode(tape, part_of(x, first, count));
      return concat({q.mean, exp(q.log_variance * 0.5)}, 1);
    });
    NamedArray table{both, {}};
    for (const char* what : {"mean", "deviation"})
      for (std::size_t i = 0; i < model_.spec().latent.size; ++i)
        table.columns.push_back(fmt::format("{}_{}", what, i + 1));
    return table;
  }

  /// The largest first.
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
  VariationalAutoencoder model_;
  std::uint64_t seed_;
  std::size_t draws_ = 1;  // of an evaluation
};

}  // namespace

std::unique_ptr<Task> make_vae_task(const Config& config) {
  return std::make_unique<VaeTask>(config);
}

std::unique_ptr<Module> stand_in_vae(const Config& config) {
  VaeSpec spec = vae_spec(config);
  const std::string& kind = config.text("data.kind");
  if (kind != "images") spec.observed = kind == "series" ? "real" : "symbols";
  complete(spec.stack, config, 1);
  return std::make_unique<VariationalAutoencoder>(spec);
}

}  // namespace bochner
