#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/bench/encoding.hpp>
#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/run/version.hpp>
#include <cmath>

namespace bochner {
namespace {

struct BenchEncodingOptions {
  std::size_t side = 64, frames = 32, space = 512, time = 32, width = 32;
  bool json = false;
};

std::vector<double> parts_of_one(std::size_t n) {
  std::vector<double> axis(n);
  for (std::size_t i = 0; i < n; ++i) axis[i] = double(i) / double(n);
  return axis;
}

/// Evaluates the encoding frame by frame: (T, N, D).
Tensor frames_by_matrix(FusedProjection& fused, const Places& nodes,
                        const std::vector<double>& times) {
  const std::size_t N = nodes.count(), D = fused.width();
  Tensor y = uninitialized({times.size(), N, D});
  for (std::size_t t = 0; t < times.size(); ++t) {
    Tape tape({.recording = false});
    const Var frame = fused.at(tape, nodes, std::vector<double>(N, times[t]));
    std::copy_n(frame.data(), N * D, y.data() + t * N * D);
  }
  return y;
}

double relative_error(const Tensor& y, const Tensor& truth) {
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    apart = std::max(apart, std::abs(double(y.data()[i]) - double(truth.data()[i])));
    largest = std::max(largest, std::abs(double(truth.data()[i])));
  }
  return largest > 0 ? apart / largest : apart;
}

void bench_encoding_command(const BenchEncodingOptions& options) {
  const auto& [side, frames, space, time, width, json] = options;
  require_measurable("--side", side);
  require_measurable("--frames", frames);
  require_measurable("--space", space);
  require_measurable("--time", time);
  require_measurable("--width", width);
  SpaceTimeSpec spec{.kind = "fused", .width = width};
  spec.space.frequencies = space;
  spec.time.frequencies = time;
  spec.space.scale = double(side) / 4;
  spec.time.scale = double(frames) / 4;
  FusedProjection fused(spec);
  initialize(fused, 1);
  const GridAxes axes{parts_of_one(side), parts_of_one(side)};
  const std::vector<EncodingWay> ways = encoding_ways(fused, axes, parts_of_one(frames));
  if (json) {
    const Json line = {{"side", side},         {"frames", frames}, {"space", space},
                       {"time", time},         {"width", width},   {"threads", thread_count()},
                       {"ways", json_of(ways)}};
    return print_line(line);
  }
  fmt::print(
      "{} · {}\nfused encoding of {} x {} places and {} times: {} + {} frequencies, D {}\n{}",
      version_line(), format_number_of(thread_count(), "thread"), side, side, frames, space, time,
      width, text_of(ways));
}

}  // namespace

std::vector<EncodingWay> encoding_ways(FusedProjection& fused, const GridAxes& space,
                                       const std::vector<double>& times) {
  const Places nodes = nodes_of(space);
  const Tensor truth = frames_by_matrix(fused, nodes, times);
  const auto by_theorem = [&] {
    Tape tape({.recording = false});
    return fused.grid(tape, space, times).value();
  };
  const auto way = [&](const char* name, const std::function<Tensor()>& evaluate) {
    return EncodingWay{name, 1e3 * median_seconds([&] { evaluate(); }),
                       relative_error(evaluate(), truth)};
  };
  return {way("matrix", [&] { return frames_by_matrix(fused, nodes, times); }),
          way("addition theorem", by_theorem),
          way("FFT", [&] { return fused.grid_by_fft(space, times); })};
}

std::string text_of(const std::vector<EncodingWay>& ways) {
  std::string text = fmt::format("{:<18} {:>10} {:>8} {:>10}\n", "", "ms", "faster", "error");
  for (const auto& [name, milliseconds, error] : ways)
    text += fmt::format("{:<18} {:>10.3f} {:>7.1f}x {:>10.1e}\n", name, milliseconds,
                        ways[0].milliseconds / milliseconds, error);
  return text;
}

Json json_of(const std::vector<EncodingWay>& ways) {
  Json lines;
  for (const auto& [name, milliseconds, error] : ways)
    lines.push({{"way", name}, {"ms", milliseconds}, {"error", error}});
  return lines;
}

void add_encoding_bench(const Command& bench) {
  const auto [command, options] = bench.command(
      "encoding", "time a fused encoding of a grid by its matrix, the addition theorem and FFT",
      bench_encoding_command);
  command.number("--side", &options.side, "places per side of a frame");
  command.number("--frames", &options.frames, "times");
  command.number("--space", &options.space, "frequencies of space");
  command.number("--time", &options.time, "frequencies of time");
  command.number("--width", &options.width, "channels: D");
  command.flag("--json", &options.json, "print JSON");
}

}  // namespace bochner
