#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/encodings/fused_projection.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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
  void visit(Visitor& visitor) override { visitor("joint", joint_); }

 private:
  double time_scale_;  // initial frequencies of time, relative to those of space
  WeightedFourier joint_;
};

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

}  // namespace bochner::inline BOCHNER_PRECISION
