#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/layers/probability/k_means.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Divides rows whose squares would overflow by powers of two.
Var scaled_rows(const Var& x) {
  const std::size_t D = x.dim(-1), rows = D > 0 ? x.size() / D : 0;
  const real limit = std::sqrt(std::numeric_limits<real>::max() / real(D));
  Shape shape = x.shape();
  shape.back() = 1;
  Tensor scale = filled(shape, real(1));
  bool any = false;
  for (std::size_t row = 0; row < rows; ++row) {
    real largest = 0;
    for (std::size_t i = 0; i < D; ++i)
      largest = std::max(largest, std::abs(x.data()[row * D + i]));
    if (!(largest >= limit) || !std::isfinite(largest)) continue;
    scale.data()[row] = std::ldexp(real(1), -std::ilogb(largest));
    any = true;
  }
  return any ? x * Var(std::move(scale)) : x;
}

}  // namespace

Var unit_rows(const Var& x) {
  const std::size_t D = x.dim(-1);
  return rms_norm(scaled_rows(x), Var(filled({D}, real(1 / std::sqrt(double(D))))), real(1e-12));
}

Var view_similarities(const Var& views, double temperature) {
  require(std::isfinite(temperature) && temperature > 0, "contrast", "temperature = ", temperature,
          " must be finite and above 0");
  const std::size_t n = views.dim(0);
  Tensor diagonal = zeros({n, n});
  for (std::size_t i = 0; i < n; ++i) diagonal(i, i) = real(-1e9);
  return matmul_nt(views, views) * (1 / temperature) + Var(std::move(diagonal));
}

Indices partners(std::size_t B) {
  Indices others{{2 * B}, {}};
  for (std::size_t i = 0; i < 2 * B; ++i) others.values.push_back(std::int32_t((i + B) % (2 * B)));
  return others;
}

Var info_nce(const Var& views, double temperature) {
  require(views.rank() == 2 && views.dim(0) % 2 == 0 && views.dim(0) > 0, "info_nce",
          "views must be (2 B, E), not ", views.shape());
  return cross_entropy(view_similarities(views, temperature), partners(views.dim(0) / 2));
}

Var prototype_nce(const Var& views, const Tensor& centres, const Tensor& concentrations,
                  const Indices& labels) {
  require(views.rank() == 2 && centres.dimension() == 2 && views.dim(1) == centres.shape()[1] &&
              concentrations.size() == centres.shape()[0],
          "prototype_nce", "sizes differ: views ", views.shape(), ", centres ", centres.shape(),
          ", concentrations ", concentrations.shape());
  const std::size_t K = centres.shape()[0], E = centres.shape()[1];
  Tensor scaled = uninitialized({K, E});
  for (std::size_t i = 0; i < K * E; ++i)
    scaled.data()[i] = centres.data()[i] / concentrations.data()[i / E];
  return cross_entropy(matmul_nt(views, Var(std::move(scaled))), labels);
}

SequenceEncoder::SequenceEncoder(const SequenceEncoderSpec& spec) {
  const TrunkSpec trunk = in_both_directions(spec.trunk);
  if (spec.values == 0) {
    trunk_ = std::make_unique<Trunk>(trunk);
    return;
  }
  const std::size_t width = trunk.block.width;
  embedding_ = std::make_unique<Linear>(spec.values, width);
  positions_ = make_positions(trunk.positions, trunk.length, width);
  stack_ = std::make_unique<BlockStack>(trunk);
}

Var SequenceEncoder::encode_tokens(Tape& tape, const EncoderInput& input) {
  if (trunk_) return trunk_->forward(tape, input.tokens, input.lengths, input.times);
  require(input.values.dimension() == 3, "sequence_encoder", "values must be (B, T, F), not ",
          input.values.shape());
  Var x = embedding_->forward(tape, tape.constant(input.values));
  if (positions_) x = positions_->forward(tape, x, 0);
  return stack_->forward(tape, x, {.lengths = input.lengths});
}

Prototypes::Prototypes(const ContrastSpec& spec, std::size_t examples)
    : spec_(spec), epochs_(zeros({1})) {
  constexpr std::size_t most = 1 << 24;  // all projections are in memory
  require(examples <= most, "prototypes", "model.contrast.kind = \"prototypes\" supports ", most,
          " training examples at most, not ", examples);
  for (const double clusters : spec.clusters) {
    const auto K = std::size_t(clusters);
    require(K <= examples, "prototypes", "model.contrast.clusters has ", K, " clusters for ",
            examples, " training examples");
    all_.push_back({zeros({K, spec.width}), filled({K}, real(1)), zeros({examples})});
  }
}

void Prototypes::cluster(const std::vector<double>& projections, std::uint64_t seed,
                         std::uint64_t epoch) {
  for (std::size_t m = 0; m < all_.size(); ++m) {
    Clustering& one = all_[m];
    const RandomFunction random{seed, Purpose::sampling,
                                stream_of("prototypes") + epoch * all_.size() + m};
    const Clusters found =
        k_means(projections, spec_.width, {one.concentrations.size(), spec_.rounds}, random);
    std::ranges::copy(unit_length(found.centres, spec_.width), one.centres.data());
    std::ranges::copy(concentrations(found, spec_.temperature), one.concentrations.data());
    std::ranges::copy(found.labels, one.labels.data());
  }
  epochs_.data()[0] = real(epoch + 1);
}

Var Prototypes::loss(const Var& views, const std::vector<std::size_t>& examples) const {
  Var total;
  for (const Clustering& one : all_) {
    Indices labels{{examples.size()}, {}};
    for (const std::size_t example : examples)
      labels.values.push_back(std::int32_t(one.labels.data()[example]));
    const Var part = prototype_nce(views, one.centres, one.concentrations, labels);
    total = total.exists() ? total + part : part;
  }
  return total * (1 / double(all_.size()));
}

void Prototypes::visit(Visitor& visitor) {
  visitor("epochs", epochs_);
  for (std::size_t m = 0; m < all_.size(); ++m) {
    const std::string name = std::to_string(m) + ".";
    visitor(name + "centres", all_[m].centres);
    visitor(name + "concentrations", all_[m].concentrations);
    visitor(name + "labels", all_[m].labels);
  }
}

ContrastModel::ContrastModel(const ContrastModelSpec& spec)
    : spec_(spec),
      encoder_(spec.encoder),
      hidden_(spec.encoder.trunk.block.width, spec.encoder.trunk.block.width),
      projection_(spec.encoder.trunk.block.width, spec.contrast.width) {
  checked("contrast", spec.contrast);
  if (spec.variates > 0) unit_ = std::make_unique<Standardize>(spec.variates, spec.series);
  if (spec.contrast.kind == "prototypes")
    prototypes_ = std::make_unique<Prototypes>(spec.contrast, spec.examples);
}

Var ContrastModel::loss(Tape& tape, const EncoderInput& views,
                        const std::vector<std::size_t>& examples) {
  require(views.size() == 2 * examples.size(), "contrast", "expected two views of ",
          examples.size(), " examples, got ", views.size());
  const Var projected = project(tape, embed(tape, views));
  const Var nce = info_nce(projected, spec_.contrast.temperature);
  if (!prototypes_ || prototypes_->epochs() == 0) return nce;
  std::vector<std::size_t> both = examples;
  both.insert(both.end(), examples.begin(), examples.end());
  return nce + prototypes_->loss(projected, both);
}

}  // namespace bochner::inline BOCHNER_PRECISION
