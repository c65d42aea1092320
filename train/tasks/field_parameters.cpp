#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/train/tasks/parameter_rows.hpp>

namespace bochner {
namespace {

std::vector<std::string> encoding_kinds() {
  std::vector<std::string> kinds = space_time_encodings().names();
  kinds.push_back("none");
  return kinds;
}

}  // namespace

Rows field_model_rows() {
  return {
      {.name = "model.patch.pixels",
       .initial = whole(1),
       .doc = "field: pixels along each side of a token",
       .range = between(1, 1 << 12)},
      {.name = "model.encoding.kind",
       .initial = "fused",
       .doc = "field: how places and times enter: a projection of both Fourier encodings (fused), "
              "of one of them, or a kernel by name; see space-time.md",
       .choices = encoding_kinds},
      {.name = "model.encoding.frequencies",
       .initial = "learned",
       .doc = "field: frequencies that are learned, random and fixed, or fixed in a geometric "
              "series",
       .choices = among({"learned", "random", "geometric"})},
      {.name = "model.encoding.space",
       .initial = whole(32),
       .doc = "field: frequencies of space",
       .range = between(1, 1 << 16)},
      {.name = "model.encoding.time",
       .initial = whole(32),
       .doc = "field: frequencies of time",
       .range = between(1, 1 << 16)},
      {.name = "model.encoding.space_scale",
       .initial = 1.0,
       .doc = "field: deviation of the frequencies of space at the start, in turns across the "
              "grid; the highest of geometric ones",
       .range = above(0)},
      {.name = "model.encoding.time_scale",
       .initial = 1.0,
       .doc = "field: the same of time, in turns over the frames",
       .range = above(0)},
      {.name = "model.encoding.every_block",
       .initial = false,
       .doc = "field: the encoding, of one W, is added in front of every block"},
  };
}

Rows field_data_rows() {
  return {
      {.name = "data.frames",
       .initial = whole(8),
       .doc = "fields: frames that are seen (T)",
       .range = between(1, 1 << 16)},
      {.name = "data.height",
       .initial = whole(0),
       .doc = "fields: pixels of a column (H), at least 3; 0 for 12, or that of the files",
       .range = between(0, 1 << 12)},
      {.name = "data.width",
       .initial = whole(0),
       .doc = "fields: pixels of a row (W), at least 3; 0 for 12, or that of the files",
       .range = between(0, 1 << 12)},
      {.name = "data.components",
       .initial = whole(4),
       .doc = "fields: Fourier modes, or travelling Gaussians and waves",
       .range = between(1, 1 << 12)},
      {.name = "data.speed",
       .initial = 1.0,
       .doc = "fields: largest velocity along each axis, in pixels a frame",
       .range = at_least(0)},
      {.name = "data.diffusivity",
       .initial = 0.1,
       .doc = "advection_diffusion: largest diffusivity, in pixels^2 a frame",
       .range = at_least(0)},
      {.name = "data.noise",
       .initial = 0.0,
       .doc = "fields: deviation of the noise on the frames that are seen",
       .range = at_least(0)},
  };
}

}  // namespace bochner
