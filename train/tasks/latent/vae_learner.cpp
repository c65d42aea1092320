#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/latent/vae_learner.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner {
namespace {

constexpr std::size_t examples_at_once = 64;

VaeSpec vae_spec(const Config& config, const LatentFormat& format) {
  auto spec = read_spec<VaeSpec>(config, "model");
  spec.latent.warmup *= config.count("train.accumulate");
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

}  // namespace

VaeLearner::VaeLearner(const Config& config, std::unique_ptr<LatentFormat> format)
    : format_(std::move(format)), model_(vae_spec(config, *format_)) {
  initialize(model_, config.count("train.seed"));
}

std::string VaeLearner::describe() const {
  const VaeSpec& spec = model_.spec();
  return fmt::format("vae, {}, {}, latent {}", describe_stack(spec.stack),
                     format_number_of(spec.tokens, "token"), spec.latent.size);
}

Json VaeLearner::sizes() const { return Json{{"length", model_.spec().tokens}}; }

LearnerAbilities VaeLearner::abilities() {
  const bool texts = format_->reads_texts();
  return {.tables = texts ? nullptr : this,
          .texts = texts ? this : nullptr,
          .latent = this,
          .specimens = this};
}

NamedArray VaeLearner::predict(const NamedArray& question) {
  return expected(format_->read(question, model_));
}

NamedArray VaeLearner::predict_texts(const std::vector<std::string>& texts, std::size_t) {
  return expected(format_->read_texts(texts));
}

NamedArray VaeLearner::sample(std::size_t count, std::uint64_t seed) {
  Tensor z = uninitialized({count, model_.spec().latent.size});
  const RandomFunction random{seed, Purpose::sampling, stream_of("prior")};
  for (std::size_t i = 0; i < z.size(); ++i) z.data()[i] = real(random.normal(i));
  const Tensor each = by_parts(count, [&](Tape& tape, std::size_t first, std::size_t rows) {
    return model_.decode(tape, slice(Var(z), 0, first, first + rows));
  });
  return format_->expected(each, model_);
}

NamedArray VaeLearner::latent(const NamedArray& examples) {
  return latent_of(format_->read(examples, model_));
}

NamedArray VaeLearner::latent_of_texts(const std::vector<std::string>& texts) {
  return latent_of(format_->read_texts(texts));
}

/// Computes the bound at the latent mean.
void VaeLearner::forward_specimen(Tape& tape, std::size_t i) {
  model_.bounds(tape, format_->specimen(i, model_), zeros({1, 1, model_.spec().latent.size}));
}

Tensor VaeLearner::decoded(const Observed& x) {
  return by_parts(x.size(), [&](Tape& tape, std::size_t first, std::size_t count) {
    return model_.decode(tape, model_.encode(tape, part_of(x, first, count)).mean);
  });
}

NamedArray VaeLearner::latent_of(const Observed& x) {
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

}  // namespace bochner
