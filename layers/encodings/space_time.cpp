#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <cmath>
#include <iterator>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::vector<double> radians_of(const Tensor& frequencies, std::size_t f) {
  const std::size_t d = frequencies.shape()[1];
  return {frequencies.data() + f * d, frequencies.data() + (f + 1) * d};
}

// The kernels below depend on differences only: sines and cosines share frequency and gain.

/// Fourier encoding with a learned gain a_f per frequency: kernel mean of a_f^2 cos(w_f . (x - y)).
class WeightedFourier : public Module {
 public:
  explicit WeightedFourier(const FourierSpec& spec)
      : fourier_(spec),
        gain_(filled({spec.frequencies}, real(std::sqrt(double(spec.frequencies) / 2)))) {}

  /// -> (N, 2m)
  Var at(Tape& tape, const Places& places) { return weighted(tape, fourier_.at(tape, places)); }
  /// -> (n_1 .. n_d, 2m)
  Var grid(Tape& tape, const GridAxes& axes) { return weighted(tape, fourier_.grid(tape, axes)); }
  std::size_t width() const { return 2 * gain_.shape()[0]; }
  std::vector<EncodedFrequency> frequencies(const std::string& part) {
    const Tensor w = fourier_.frequencies();
    std::vector<EncodedFrequency> all;
    for (std::size_t f = 0; f < gain_.shape()[0]; ++f)
      all.push_back({part, radians_of(w, f), {{gain_.value().data() + f, 1}}});
    return all;
  }
  void visit(Visitor& visitor) override {
    fourier_.visit(visitor);
    visitor("gain", gain_);
  }

 private:
  Var weighted(Tape& tape, const Var& encoding) {
    const Var gain = tape(gain_);
    return encoding * concat({gain, gain}, 0);
  }

  FourierEncoding fourier_;
  Parameter gain_;
};

/// Returns the spec with as many frequencies as fill the channels.
FourierSpec with_channels(FourierSpec spec, std::size_t channels) {
  spec.frequencies = channels / 2;
  return spec;
}

FourierSpec additive_part(const SpaceTimeSpec& spec, const FourierSpec& part) {
  if (spec.kind == "concatenated") return part;
  require(spec.width % 4 == 0, "space_time_encoding",
          "an additive kernel requires a multiple of 4 channels, not ", spec.width);
  return with_channels(part, spec.width / 2);
}

FourierSpec joint_spec(const SpaceTimeSpec& spec) {
  require(spec.width % 2 == 0, "space_time_encoding",
          "a multiplicative kernel requires an even number of channels, not ", spec.width);
  require((spec.space.kind == "learned" && spec.space.start == "gaussian") ||
              spec.space.kind == "random",
          "space_time_encoding",
          "a multiplicative kernel requires Gaussian frequencies, learned or random, not on axes");
  FourierSpec all = with_channels(spec.space, spec.width);
  ++all.dimensions;
  return all;
}

/// [PE_space, PE_time] with gains: kernel K_space + K_time. "additive" is added to the content,
/// with half of its D channels each; "concatenated" is appended to the content.
class AdditiveKernel : public SpaceTimeEncoding {
 public:
  explicit AdditiveKernel(const SpaceTimeSpec& spec)
      : concatenated_(spec.kind == "concatenated"),
        space_(additive_part(spec, spec.space)),
        time_(additive_part(spec, spec.time)) {
    require(!concatenated_ || width() < spec.width, "space_time_encoding", "an encoding of ",
            width(), " concatenated channels leaves none of ", spec.width, " for the content");
  }

  Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) override {
    const Var in_space = space_.grid(tape, space), in_time = time_.grid(tape, {times});
    const std::size_t T = times.size(), N = in_space.dim(0);
    return concat({broadcast_to(in_space, {T, N, space_.width()}),
                   broadcast_to(reshape(in_time, {T, 1, time_.width()}), {T, N, time_.width()})},
                  2);
  }
  Var at(Tape& tape, const Places& places, const std::vector<double>& times) override {
    return concat({space_.at(tape, places), time_.at(tape, {1, times})}, 1);
  }
  std::size_t width() const override { return space_.width() + time_.width(); }
  std::vector<EncodedFrequency> frequencies() override {
    std::vector<EncodedFrequency> all = space_.frequencies("space");
    std::ranges::move(time_.frequencies("time"), std::back_inserter(all));
    return all;
  }
  bool is_concatenated() const override { return concatenated_; }
  void visit(Visitor& visitor) override {
    visitor("space", space_);
    visitor("time", time_);
  }

 private:
  bool concatenated_;
  WeightedFourier space_, time_;
};

/// Joint frequencies of space and time: kernel mean of a_f^2 cos(w_f . (x - y) + v_f (t - s)),
/// which is K_space K_time if both are even and drawn independently. D / 2 frequencies.
class MultiplicativeKernel : public SpaceTimeEncoding {
 public:
  explicit MultiplicativeKernel(const SpaceTimeSpec& spec)
      : time_scale_(spec.time.scale / spec.space.scale), joint_(joint_spec(spec)) {}

  Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) override {
    GridAxes axes{times};
    for (double& time : axes[0]) time *= time_scale_;
    axes.insert(axes.end(), space.begin(), space.end());
    const Var all = joint_.grid(tape, axes);
    const std::size_t T = times.size(), N = T == 0 ? 0 : all.dim(0) / T;
    return reshape(all, {T, N, width()});
  }
  Var at(Tape& tape, const Places& places, const std::vector<double>& times) override {
    Places joined{places.dimensions + 1, {}};
    for (std::size_t n = 0; n < places.count(); ++n) {
      joined.coordinates.push_back(time_scale_ * times[n]);
      const double* x = places.coordinates.data() + n * places.dimensions;
      joined.coordinates.insert(joined.coordinates.end(), x, x + places.dimensions);
    }
    return joint_.at(tape, joined);
  }
  std::size_t width() const override { return joint_.width(); }
  std::vector<EncodedFrequency> frequencies() override {
    std::vector<EncodedFrequency> all = joint_.frequencies("joint");
    for (EncodedFrequency& one : all) one.radians[0] *= time_scale_;
    return all;
  }
  void visit(Visitor& visitor) override { visitor("joint", joint_); }

 private:
  double time_scale_;  // initial frequencies of time, relative to those of space
  WeightedFourier joint_;
};

/// Initial deviation of W: channels of the encoding then have deviation 1/2, or 0.35 with one part.
constexpr double initial_deviation = 0.5;

}  // namespace

Registry<SpaceTimeEncoding, SpaceTimeSpec>& space_time_encodings() {
  static Registry<SpaceTimeEncoding, SpaceTimeSpec> registry(
      "space_time_encoding", {{"fused", make<FusedProjection>},
                              {"space", make<FusedProjection>},
                              {"time", make<FusedProjection>},
                              {"additive", make<AdditiveKernel>},
                              {"concatenated", make<AdditiveKernel>},
                              {"multiplicative", make<MultiplicativeKernel>}});
  return registry;
}

std::vector<std::string> space_time_names() {
  std::vector<std::string> names = space_time_encodings().names();
  names.push_back("none");
  return names;
}

std::unique_ptr<SpaceTimeEncoding> make_space_time(const SpaceTimeSpec& spec) {
  require(spec.time.dimensions == 1, "space_time_encoding", "time must have one coordinate, not ",
          spec.time.dimensions);
  if (spec.kind == "none") return nullptr;
  return space_time_encodings().make(spec.kind, spec);
}

std::unique_ptr<SpaceTimeEncoding> make_space_time(SpaceTimeSpec spec, std::size_t width,
                                                   std::size_t dimensions) {
  spec.width = width;
  spec.space.dimensions = dimensions;
  return make_space_time(spec);
}

FusedProjection::FusedProjection(const SpaceTimeSpec& spec) {
  if (spec.kind != "time") space_ = std::make_unique<FourierEncoding>(spec.space);
  if (spec.kind != "space") time_ = std::make_unique<FourierEncoding>(spec.time);
  const std::size_t rows = space_rows() + (time_ ? 2 * spec.time.frequencies : 0);
  weight_ = Parameter({rows, spec.width}, Initial::normal(initial_deviation));
  mask_ = filled(weight_.shape(), 1);
}

/// Sums encodings of places (N, D) and times (T, D), either of which may be missing. -> (T, N, D)
Var FusedProjection::joined(const Var& in_space, const Var& in_time, std::size_t T,
                            std::size_t N) const {
  const std::size_t D = width();
  if (!in_time.exists()) return broadcast_to(in_space, {T, N, D});
  const Var by_time = reshape(in_time, {T, 1, D});
  return in_space.exists() ? by_time + in_space : broadcast_to(by_time, {T, N, D});
}

Var FusedProjection::grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) {
  const Var w = tape(weight_) * tape.view(mask_);
  const std::size_t split = space_rows(), rows = w.dim(0);
  Var in_space, in_time;
  if (space_) in_space = matmul(space_->grid(tape, space), slice(w, 0, 0, split));
  if (time_) in_time = matmul(time_->grid(tape, {times}), slice(w, 0, split, rows));
  return joined(in_space, in_time, times.size(), nodes_of(space).count());
}

Tensor FusedProjection::grid_by_fft(const GridAxes& space, const std::vector<double>& times) {
  const Var w = Tensor(weight_.value() * mask_);
  const std::size_t split = space_rows(), rows = w.dim(0);
  Var in_space, in_time;
  if (space_) in_space = space_->grid_product(space, slice(w, 0, 0, split).value());
  if (time_) in_time = time_->grid_product({times}, slice(w, 0, split, rows).value());
  return joined(in_space, in_time, times.size(), nodes_of(space).count()).value();
}

std::vector<EncodedFrequency> FusedProjection::frequencies() {
  std::vector<EncodedFrequency> all;
  const std::size_t D = width();
  const auto add = [&](const char* part, const FourierEncoding* encoding, std::size_t first) {
    if (!encoding) return;
    const Tensor w = encoding->frequencies();
    const std::size_t m = w.shape()[0];
    real* rows = weight_.value().data() + first * D;
    for (std::size_t f = 0; f < m; ++f)
      all.push_back({part, radians_of(w, f), {{rows + f * D, D}, {rows + (m + f) * D, D}}});
  };
  add("space", space_.get(), 0);
  add("time", time_.get(), space_rows());
  return all;
}

Var FusedProjection::inputs(Tape& tape, const Places& places, const std::vector<double>& times) {
  std::vector<Var> parts;
  if (space_) parts.push_back(space_->at(tape, places));
  if (time_) parts.push_back(time_->at(tape, {1, times}));
  return concat(parts, 1);
}

/// Sums of squares of s + t over all pairs split into those of s and t about their means, each
/// times the number of the other, and that of the mean of s + t, once per pair.
Tensor FusedProjection::grid_inputs(Tape& tape, const GridAxes& space,
                                    const std::vector<double>& times) {
  const std::size_t N = space_ ? nodes_of(space).count() : 1, T = time_ ? times.size() : 1;
  const std::size_t split = space_rows(), columns = weight_.shape()[0];
  Tensor x = zeros({N + T + 1, columns});
  const auto place = [&](const Tensor& part, std::size_t first, std::size_t column,
                         double repeats) {
    const std::size_t rows = part.shape()[0], width = part.shape()[1];
    for (std::size_t j = 0; j < width; ++j) {
      double mean = 0;
      for (std::size_t n = 0; n < rows; ++n) mean += double(part(n, j)) / double(rows);
      for (std::size_t n = 0; n < rows; ++n)
        x(first + n, column + j) = real(std::sqrt(repeats) * (double(part(n, j)) - mean));
      x(N + T, column + j) = real(std::sqrt(double(N * T)) * mean);
    }
  };
  if (space_) place(space_->grid(tape, space).value(), 0, 0, double(T));
  if (time_) place(time_->grid(tape, {times}).value(), N, split, double(N));
  return x;
}

Var FusedProjection::at(Tape& tape, const Places& places, const std::vector<double>& times) {
  return matmul(inputs(tape, places, times), tape(weight_) * tape.view(mask_));
}

}  // namespace bochner::inline BOCHNER_PRECISION
