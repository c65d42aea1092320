#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/encodings/space_time_kernels.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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
  require(spec.space.kind != "geometric", "space_time_encoding",
          "frequencies of space and time together are learned or random, not geometric");
  FourierSpec all = filling(spec.space, spec.width);
  ++all.dimensions;
  return all;
}

}  // namespace

WeighedFourier::WeighedFourier(const FourierSpec& spec)
    : fourier_(spec),
      gain_(filled({spec.frequencies}, real(std::sqrt(double(spec.frequencies) / 2)))) {}

Var WeighedFourier::weighed(Tape& tape, const Var& encoding) {
  const Var gain = tape(gain_);
  return encoding * concat({gain, gain}, 0);
}

Var WeighedFourier::at(Tape& tape, const Places& places) {
  return weighed(tape, fourier_.at(tape, places));
}

Var WeighedFourier::grid(Tape& tape, const GridAxes& axes) {
  return weighed(tape, fourier_.grid(tape, axes));
}

void WeighedFourier::visit(Visitor& visitor) {
  fourier_.visit(visitor);
  visitor("gain", gain_);
}

AdditiveKernel::AdditiveKernel(const SpaceTimeSpec& spec)
    : stands_beside_(spec.kind == "concatenated"),
      space_(additive_part(spec, spec.space)),
      time_(additive_part(spec, spec.time)) {
  require(!stands_beside_ || width() < spec.width, "space_time_encoding", "an encoding of ",
          width(), " channels beside the content leaves none of ", spec.width, " to it");
}

Var AdditiveKernel::grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) {
  const Var in_space = space_.grid(tape, space), in_time = time_.grid(tape, {times});
  const std::size_t T = times.size(), N = in_space.dim(0);
  return concat({broadcast_to(in_space, {T, N, space_.width()}),
                 broadcast_to(reshape(in_time, {T, 1, time_.width()}), {T, N, time_.width()})},
                2);
}

Var AdditiveKernel::at(Tape& tape, const Places& places, const std::vector<double>& times) {
  return concat({space_.at(tape, places), time_.at(tape, {1, times})}, 1);
}

void AdditiveKernel::visit(Visitor& visitor) {
  visitor("space", space_);
  visitor("time", time_);
}

MultiplicativeKernel::MultiplicativeKernel(const SpaceTimeSpec& spec)
    : time_unit_(spec.time.scale / spec.space.scale), joint_(joint(spec)) {}

Var MultiplicativeKernel::grid(Tape& tape, const GridAxes& space,
                               const std::vector<double>& times) {
  GridAxes axes{times};
  for (double& time : axes[0]) time *= time_unit_;
  axes.insert(axes.end(), space.begin(), space.end());
  const Var all = joint_.grid(tape, axes);
  const std::size_t T = times.size(), N = T == 0 ? 0 : all.dim(0) / T;
  return reshape(all, {T, N, width()});
}

Var MultiplicativeKernel::at(Tape& tape, const Places& places, const std::vector<double>& times) {
  Places joined{places.dimensions + 1, {}};
  for (std::size_t n = 0; n < places.count(); ++n) {
    joined.coordinates.push_back(time_unit_ * times[n]);
    const double* x = places.coordinates.data() + n * places.dimensions;
    joined.coordinates.insert(joined.coordinates.end(), x, x + places.dimensions);
  }
  return joint_.at(tape, joined);
}

void MultiplicativeKernel::visit(Visitor& visitor) { visitor("joint", joint_); }

}  // namespace bochner::inline BOCHNER_PRECISION
