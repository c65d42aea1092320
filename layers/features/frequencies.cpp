#include <bochner/autodiff/ops.hpp>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

RandomFunction random_of(const ProjectionSpec& spec, const char* part) {
  return {spec.seed, Purpose::spectral, stream_of(part)};
}

/// Blocks of p rows, p the smallest power of two from d on.
struct Blocks {
  std::size_t H, d, p, count;
  explicit Blocks(const ProjectionSpec& spec)
      : H(spec.heads), d(spec.dim), p(std::bit_ceil(spec.dim)), count(ceil_div(spec.m, p)) {}
  Shape by_input() const { return {H, count, d, 1}; }
  Shape by_row() const { return {H, count, 1, p}; }
};

template <class Value>
Tensor generate(const Shape& shape, const Value& value) {
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(value(i));
  return x;
}

Tensor random_signs(const Shape& shape, const RandomFunction& random) {
  return generate(shape, [&](std::size_t i) { return random.integer(i, 2) == 0 ? -1.0 : 1.0; });
}

Tensor chi_lengths(const Blocks& blocks, const RandomFunction& random) {
  return generate(blocks.by_row(),
                  [&](std::size_t i) { return chi_quantile(random.uniform(i), blocks.p); });
}

/// Returns a Fisher-Yates shuffle of 0 .. n - 1 by random numbers first, first + 1, ...
std::vector<std::size_t> permutation(std::size_t n, const RandomFunction& random,
                                     std::uint64_t first) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t(0));
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.integer(first + i, i)]);
  return order;
}

/// Returns the first d columns of P H / sqrt(p) per block.
Tensor permuted_hadamard(const Blocks& blocks, const RandomFunction& random) {
  Tensor mixed = uninitialized({blocks.H, blocks.count, blocks.d, blocks.p});
  const double scale = 1 / std::sqrt(double(blocks.p));
  for (std::size_t block = 0; block < blocks.H * blocks.count; ++block) {
    const auto order = permutation(blocks.p, random, block * (blocks.p + 1));
    for (std::size_t j = 0; j < blocks.d; ++j) {
      for (std::size_t i = 0; i < blocks.p; ++i) {
        const bool odd = std::popcount(order[i] & j) % 2 != 0;
        mixed.data()[(block * blocks.d + j) * blocks.p + i] = real(odd ? -scale : scale);
      }
    }
  }
  return mixed;
}

/// Turns columns into rows and keeps m of them. (H, blocks, d, p) -> (H, m, d)
Var first_rows(const Var& columns, std::size_t m) {
  const Var rows = transpose(columns, {0, 1, 3, 2});
  return slice(reshape(rows, {rows.dim(0), rows.dim(1) * rows.dim(2), rows.dim(3)}), 1, 0, m);
}

Tensor identity(std::size_t rows, std::size_t columns) {
  return generate({rows, columns},
                  [=](std::size_t i) { return i / columns == i % columns ? 1.0 : 0.0; });
}

/// Returns the factors of the rows of H G P H B, whose norm is |G| / sqrt(p).
Tensor fastfood_lengths(const Blocks& blocks, const Tensor& gaussian,
                        const RandomFunction& random) {
  Tensor lengths = chi_lengths(blocks, random);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double square = squared_length(gaussian.data() + i / blocks.p * blocks.p, blocks.p);
    lengths.data()[i] *= real(std::sqrt(double(blocks.p) / square));
  }
  return lengths;
}

/// Rows S H G P H B / sqrt(p) in blocks of p >= d, p a power of two: H Hadamard, P a permutation;
/// learned signs B, normal G, row lengths S (chi_p over |G|). Le et al., "Fastfood", 2013.
class FastfoodProjection : public Projection {
 public:
  explicit FastfoodProjection(const ProjectionSpec& spec) : m_(spec.m) {
    const Blocks blocks(spec);
    const RandomFunction normal = random_of(spec, "gaussian");
    mixed_ = permuted_hadamard(blocks, random_of(spec, "permutation"));
    signs_.assign(random_signs(blocks.by_input(), random_of(spec, "signs")));
    gaussian_.assign(generate(blocks.by_row(), [&](std::size_t i) { return normal.normal(i); }));
    lengths_.assign(fastfood_lengths(blocks, gaussian_.value(), random_of(spec, "lengths")));
  }

  Var rows(Tape& tape) override {
    const Var inner = tape.view(mixed_) * tape(signs_) * tape(gaussian_);
    return first_rows(hadamard(inner) * tape(lengths_), m_);
  }
  void visit(Visitor& visitor) override {
    visitor("mixed", mixed_);
    visitor("signs", signs_);
    visitor("gaussian", gaussian_);
    visitor("lengths", lengths_);
  }

 private:
  std::size_t m_;
  Tensor mixed_;                  // (H, blocks, d, p): columns of P H
  Parameter signs_;               // (H, blocks, d, 1)
  Parameter gaussian_, lengths_;  // (H, blocks, 1, p)
};

/// Rows S H D1 H D2 H D3 in blocks of p >= d with learned diagonals D, initially signs, and learned
/// lengths S, initially chi_p. The published lengths sqrt(p) would not give the Gaussian kernel. Yu
/// et al., "Orthogonal random features", 2016.
class SorfProjection : public Projection {
 public:
  explicit SorfProjection(const ProjectionSpec& spec)
      : m_(spec.m), unit_(identity(spec.dim, Blocks(spec).p)) {
    const Blocks blocks(spec);
    first_.assign(random_signs(blocks.by_row(), random_of(spec, "first")));
    second_.assign(random_signs(blocks.by_row(), random_of(spec, "second")));
    third_.assign(random_signs(blocks.by_input(), random_of(spec, "third")));
    lengths_.assign(chi_lengths(blocks, random_of(spec, "lengths")));
  }

  Var rows(Tape& tape) override {
    const Var inner = hadamard(tape.view(unit_) * tape(third_));
    const Var outer = hadamard(hadamard(inner * tape(second_)) * tape(first_));
    return first_rows(outer * tape(lengths_), m_);
  }
  void visit(Visitor& visitor) override {
    visitor("first", first_);
    visitor("second", second_);
    visitor("third", third_);
    visitor("lengths", lengths_);
  }

 private:
  std::size_t m_;
  Tensor unit_;               // (d, p)
  Parameter first_, second_;  // (H, blocks, 1, p)
  Parameter third_;           // (H, blocks, d, 1)
  Parameter lengths_;         // (H, blocks, 1, p)
};

/// Uniform directions, orthogonal in blocks, times r(t), the quantile function of chi_d, the radius
/// of N(0, I). t is stratified, one draw per m-th part of (0, 1) in random order, so that each row
/// is exactly normal. "PFF" in Chen et al., "DiJiang", 2024.
class RadialProjection : public Projection {
 public:
  explicit RadialProjection(const ProjectionSpec& spec)
      : rows_(base_draws("orthogonal", spec.heads, spec.m, spec.dim, 0,
                         random_of(spec, "directions"))) {
    const std::size_t m = spec.m, d = spec.dim;
    const RandomFunction place = random_of(spec, "place"), order = random_of(spec, "order");
    for (std::size_t h = 0; h < spec.heads; ++h) {
      const auto part = permutation(m, order, h * (m + 1));
      for (std::size_t i = 0; i < m; ++i) {
        real* row = rows_.data() + (h * m + i) * d;
        const double t = (double(part[i]) + place.uniform(h * m + i)) / double(m);
        const double factor = chi_quantile(t, d) / std::sqrt(squared_length(row, d));
        for (std::size_t e = 0; e < d; ++e) row[e] = real(factor * double(row[e]));
      }
    }
  }

  Var rows(Tape& tape) override { return tape.view(rows_); }
  void visit(Visitor& visitor) override { visitor("rows", rows_); }

 private:
  Tensor rows_;
};

}  // namespace

double chi_quantile(double t, std::size_t d) {
  return std::sqrt(2 * special::inverse_gamma_p(double(d) / 2, t));
}

Registry<Projection, ProjectionSpec>& projections() {
  static Registry<Projection, ProjectionSpec> registry("projection",
                                                       {{"fastfood", make<FastfoodProjection>},
                                                        {"sorf", make<SorfProjection>},
                                                        {"radial", make<RadialProjection>}});
  return registry;
}

Frequencies::Frequencies(const FeatureSpec& spec)
    : log_scale_(zeros({0})), log_head_scale_(zeros({0})) {
  const std::size_t H = spec.heads;
  if (spec.projection == "density") {
    density_ = make_density(spec.density);
  } else {
    projection_ = projections().make(spec.projection, {H, spec.m, spec.dim, spec.density.seed});
    log_scale_.assign(filled({H, 1, spec.dim}, real(spec.density.log_scale)));
  }
  if (spec.weights == "importance") {
    require(density_ != nullptr, spec.kind.c_str(),
            "weights = \"importance\" requires projection = \"density\", not \"", spec.projection,
            "\"");
    proposal_ = std::make_unique<Proposal>(spec.density);
  }
  if (spec.spread == 0) return;
  Tensor spread = zeros({H, 1, 1});
  for (std::size_t h = 0; h < H && H > 1; ++h)
    spread.data()[h] = real(spec.spread * (2 * double(h) / double(H - 1) - 1));
  log_head_scale_.assign(std::move(spread));
}

Var Frequencies::new_draws(Tape& tape) {
  const Var w = proposal_  ? tape.constant(proposal_->draws(tape))
                : density_ ? density_->draws(tape)
                           : projection_->rows(tape) * exp(tape(log_scale_));
  return log_head_scale_.value().size() > 0 ? w * exp(tape(log_head_scale_)) : w;
}

void Frequencies::visit(Visitor& visitor) {
  if (density_) {
    visitor("density", *density_);
    if (proposal_) visitor("proposal", *proposal_);
  } else {
    visitor("projection", *projection_);
    visitor("log_scale", log_scale_);
  }
  if (log_head_scale_.value().size() > 0) visitor("log_head_scale", log_head_scale_);
}

Var softmax_scaled(const Var& x) { return x * std::pow(double(x.dim(-1)), -0.25); }

std::vector<double> sample_of(const Tensor& samples, std::size_t row, std::size_t head) {
  const std::size_t H = samples.shape()[1], d = samples.shape()[2];
  const real* first = samples.data() + (row * H + head) * d;
  return {first, first + d};
}

std::vector<double> scaled_samples(const Tensor& samples, std::size_t head, std::size_t d) {
  require(samples.dimension() == 3 && samples.shape()[0] > 0 && samples.shape()[1] > head &&
              samples.shape()[2] == d,
          "calibrate", "samples must be (n, H, ", d, "), n > 0, not ", samples.shape());
  const std::size_t stride = samples.shape()[1] * d;
  const double scale = std::pow(double(d), -0.25);
  std::vector<double> points(samples.shape()[0] * d);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = scale * double(samples.data()[i / d * stride + head * d + i % d]);
  return points;
}

Var exponents(const Var& x, const Var& w, double c, const Var& offset) {
  return exponential(x, w, c, offset).values();
}

Features exponential(const Var& x, const Var& w, double c, const Var& offset) {
  const double scale = std::pow(double(x.dim(-1)), -0.25);
  Features features = exponential_features(x, w, real(c * scale * scale), offset, real(scale));
  features.log_factor = real(-std::log(double(w.dim(1))) / 2);
  return features;
}

}  // namespace bochner::inline BOCHNER_PRECISION
