#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/encodings/fused_projection.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

// Encodings whose kernels depend on differences only, whatever is learned: sines and cosines share
// frequency and gain.

/// A Fourier encoding with a learned gain a_f for each frequency: kernel mean of a_f^2 cos(w_f .
/// (x - y)).
class WeighedFourier : public Module {
 public:
  explicit WeighedFourier(const FourierSpec& spec)
      : fourier_(spec),
        gain_(filled({spec.frequencies}, real(std::sqrt(double(spec.frequencies) / 2)))) {}

  /// (N, 2m)
  Var at(Tape& tape, const Places& places) { return weighed(tape, fourier_.at(tape, places)); }
  /// (n_1 .. n_d, 2m)
  Var grid(Tape& tape, const GridAxes& axes) { return weighed(tape, fourier_.grid(tape, axes)); }
  std::size_t width() const { return 2 * gain_.shape()[0]; }
  void visit(Visitor& visitor) override {
    fourier_.visit(visitor);
    visitor("gain", gain_);
  }

 private:
  Var weighed(Tape& tape, const Var& encoding) {
    const Var gain = tape(gain_);
    return encoding * concat({gain, gain}, 0);
  }

  FourierEncoding fourier_;
  Parameter gain_;
};

/// The same with as many frequencies as fill so many channels.
FourierSpec filling(FourierSpec spec, std::size_t channels) {
  spec.frequencies = channels / 2;
  return spec;
}

FourierSpec additive_part(const SpaceTimeSpec& spec, const FourierSpec& part) {
  if (spec.kind == "concatenated") return part;
  require(spec.width % 4 == 0, "space_time_encoding",
          "an additive kernel fills the channels, whose number 4 must divide, not ", spec.width);
  return filling(part, spec.width / 2);
}

FourierSpec joint(const SpaceTimeSpec& spec) {
  require(spec.width % 2 == 0, "space_time_encoding",
          "a multiplicative kernel fills the channels, whose number must be even, not ",
          spec.width);
  require((spec.space.kind == "learned" && spec.space.start == "gaussian") ||
              spec.space.kind == "random",
          "space_time_encoding",
          "frequencies of space and time together are Gaussian ones, learned or random: on an axis "
          "they are of one of the two");
  FourierSpec all = filling(spec.space, spec.width);
  ++all.dimensions;
  return all;
}

/// [PE_space, PE_time] with gains: kernel K_space + K_time. "additive" is added to the content and
/// fills its D channels, half of them by each part; "concatenated" stands beside the content.
class AdditiveKernel : public SpaceTimeEncoding {
 public:
  explicit AdditiveKernel(const SpaceTimeSpec& spec)
      : stands_beside_(spec.kind == "concatenated"),
        space_(additive_part(spec, spec.space)),
        time_(additive_part(spec, spec.time)) {
    require(!stands_beside_ || width() < spec.width, "space_time_encoding", "an encoding of ",
            width(), " channels beside the content leaves none of ", spec.width, " to it");
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
  bool stands_beside() const override { return stands_beside_; }
  void visit(Visitor& visitor) override {
    visitor("space", space_);
    visitor("time", time_);
  }

 private:
  bool stands_beside_;
  WeighedFourier space_, time_;
};

/// Frequencies of space and time jointly: kernel mean of a_f^2 cos(w_f . (x - y) + v_f (t - s)), a
/// product of K_space and K_time where both are even and drawn independently. D / 2 frequencies.
class MultiplicativeKernel : public SpaceTimeEncoding {
 public:
  explicit MultiplicativeKernel(const SpaceTimeSpec& spec)
      : time_unit_(spec.time.scale / spec.space.scale), joint_(joint(spec)) {}

  Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) override {
    GridAxes axes{times};
    for (double& time : axes[0]) time *= time_unit_;
    axes.insert(axes.end(), space.begin(), space.end());
    const Var all = joint_.grid(tape, axes);
    const std::size_t T = times.size(), N = T == 0 ? 0 : all.dim(0) / T;
    return reshape(all, {T, N, width()});
  }
  Var at(Tape& tape, const Places& places, const std::vector<double>& times) override {
    Places joined{places.dimensions + 1, {}};
    for (std::size_t n = 0; n < places.count(); ++n) {
      joined.coordinates.push_back(time_unit_ * times[n]);
      const double* x = places.coordinates.data() + n * places.dimensions;
      joined.coordinates.insert(joined.coordinates.end(), x, x + places.dimensions);
    }
    return joint_.at(tape, joined);
  }
  std::size_t width() const override { return joint_.width(); }
  void visit(Visitor& visitor) override { visitor("joint", joint_); }

 private:
  double time_unit_;  // frequencies of time have another scale at the start than those of space
  WeighedFourier joint_;
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
  require(spec.time.dimensions == 1, "space_time_encoding", "time has one coordinate, not ",
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
