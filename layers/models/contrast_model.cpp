#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/contrast_losses.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/layers/probability/k_means.hpp>

namespace bochner::inline BOCHNER_PRECISION {

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

Var ContrastModel::project(Tape& tape, const Var& embeddings) {
  return unit_rows(projection_.forward(tape, hidden_.forward_gelu(tape, embeddings)));
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

void ContrastModel::visit(Visitor& visitor) {
  if (unit_) visitor("unit", *unit_);
  encoder_.visit(visitor);
  visitor("hidden", hidden_);
  visitor("projection", projection_);
  if (prototypes_) visitor("prototypes", *prototypes_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
