#include <bochner/train/tasks/parameter_rows.hpp>

namespace bochner {
namespace {

Rows encoding_rows(const Choices& choices) {
  return {
      {.name = "model.time.kind",
       .initial = "none",
       .doc = "encoding of time stamps: frequencies drawn from a learned density (gaussian, flow, "
              "..), learned one by one (free), fixed (sinusoidal), or learned Fourier series",
       .choices = choices.times},
      {.name = "model.time.use",
       .initial = "concatenate",
       .doc = "where it enters: beside the event's embedding (concatenate, add), or in the queries "
              "and keys of every block (attend, rotate)",
       .choices = choices.time_uses},
      {.name = "model.time.m",
       .initial = whole(16),
       .doc = "frequencies, or base frequencies of mercer; half a head's channels where it rotates",
       .range = between(1, 1 << 16)},
      {.name = "model.time.degree",
       .initial = whole(4),
       .doc = "harmonics of each base frequency (mercer, mercer_summed)",
       .range = between(0, 1024)},
      {.name = "model.time.paired",
       .initial = true,
       .doc = "sines share the coefficients of cosines: the kernel sees lags only (mercer)"},
      {.name = "model.time.shortest",
       .initial = 1.0,
       .doc = "shortest period at the start, in median gaps (free, mercer, sinusoidal)",
       .range = above(0)},
      {.name = "model.time.longest",
       .initial = 1000.0,
       .doc = "longest period at the start, in median gaps",
       .range = above(0)},
  };
}

Rows density_rows() {
  return {
      {.name = "model.time.log_scale",
       .initial = 0.0,
       .doc = "start of the log standard deviation of drawn frequencies, in radians per median gap",
       .range = between(-20, 20)},
      {.name = "model.time.components",
       .initial = whole(4),
       .doc = "Gaussians of a mixture of frequencies",
       .range = between(1, 1024)},
      {.name = "model.time.degrees",
       .initial = 3.0,
       .doc = "start of the degrees of freedom of student_t",
       .range = above(0.5)},
      {.name = "model.time.knots",
       .initial = whole(8),
       .doc = "bins of the monotone spline of flow",
       .range = between(2, 1024)},
      {.name = "model.time.redraw",
       .initial = whole(0),
       .doc = "steps between new base draws in training, 0 for never; validation keeps the first",
       .range = at_least(0)},
  };
}

}  // namespace

Rows all_time_rows(const Choices& choices) {
  Rows all = encoding_rows(choices);
  for (ParameterRow& row : density_rows()) all.push_back(std::move(row));
  return all;
}

}  // namespace bochner
