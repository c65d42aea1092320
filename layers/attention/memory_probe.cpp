#include <algorithm>
#include <bochner/layers/attention/memory_probe.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t tokens_at_once = 8192;  // of the copies of a window that go through together

/// Row 0 of an array, again and again. (1, ..) -> (rows, ..)
template <class Array>
Array copies(const Array& row, std::size_t rows) {
  if (row.dimension() == 0) return row;
  auto shape = row.shape();
  shape[0] = rows;
  Array all(shape);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(row.data(), row.size(), all.data() + i * row.size());
  return all;
}

ProbeWindow copies(const ProbeWindow& window, std::size_t rows) {
  const Layout& one = window.layout;
  Layout layout{{}, copies(one.gaps, rows), copies(one.times, rows)};
  if (!one.lengths.empty()) layout.lengths.assign(rows, one.lengths.front());
  return {copies(window.u, rows), std::move(layout), copies(window.each, rows)};
}

std::size_t tokens_of(const ProbeWindow& window) {
  const auto& lengths = window.layout.lengths;
  return lengths.empty() ? window.u.shape()[1] : lengths.front();
}

void require_windows(const std::vector<ProbeWindow>& windows) {
  require(!windows.empty(), "probe", "there are no windows to look at");
  for (const ProbeWindow& window : windows)
    require(window.u.dimension() == 3 && window.u.shape()[0] == 1 && tokens_of(window) > 0, "probe",
            "a window must be (1, T, D) with tokens in it, not ", window.u.shape());
}

RandomFunction signs_of(const ProbeOptions& options, std::size_t window) {
  return {options.seed, Purpose::sampling, stream_of("memory probe") + window};
}

/// 1 or -1, of one draw at one position.
real sign_of(const RandomFunction& random, std::size_t draw, std::size_t position,
             std::size_t channel, std::size_t channels) {
  const std::uint64_t element = (std::uint64_t(draw) << 32) + position * channels + channel;
  return random.bits(element)[0] & 1 ? real(1) : real(-1);
}

/// Of each draw and s: |r^T dy(t)/du(s)|^2 / E for random r, |dy_c(t)/du(s)|^2 for each channel c.
/// The mean over the draws is |dy(t)/du(s)|_F^2 / E.
struct Products {
  std::size_t draws, T;
  std::vector<double> squares;  // (draws, T)
};

/// A pass of `rows` draws, from `first` on.
void multiply(const SequenceMap& map, const ProbeWindow& window, std::size_t t, std::size_t first,
              std::size_t rows, const RandomFunction* random, Products& products) {
  Tape tape;
  tape.recording = false;  // of parameters; the input is recorded
  const ProbeWindow all = copies(window, rows);
  const Var u = tape.input(all.u);
  const Var y = map(tape, u, all);
  const std::size_t T = u.dim(1), D = u.dim(2), E = y.dim(2);
  require(y.dim(0) == rows && y.dim(1) == T, "probe", "of ", u.shape(), " the map makes ",
          y.shape(), ", not as many tokens");
  Tensor cotangent = zeros(y.shape());
  for (std::size_t row = 0; row < rows; ++row) {
    real* r = cotangent.data() + (row * T + t) * E;
    if (random)
      for (std::size_t c = 0; c < E; ++c) r[c] = sign_of(*random, first + row, t, c, E);
    else
      r[first + row] = 1;
  }
  if (y.needs_gradient()) tape.backward(y, std::move(cotangent));
  const Tensor gradient = gradient_of(u);
  const double unit = random ? 1 / double(E) : 1;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t s = 0; s < T; ++s) {
      double sum = 0;
      for (std::size_t c = 0; c < D; ++c) {
        const double g = double(gradient.data()[(row * T + s) * D + c]);
        sum += g * g;
      }
      products.squares[(first + row) * T + s] = unit * sum;
    }
}

/// Channels of the output.
std::size_t output_width(const SequenceMap& map, const ProbeWindow& window) {
  Tape tape;
  tape.recording = false;
  return map(tape, tape.view(window.u), window).dim(-1);
}

Products products_at(const SequenceMap& map, const ProbeWindow& window, std::size_t number,
                     std::size_t t, const ProbeOptions& options) {
  const std::size_t T = window.u.shape()[1];
  const std::size_t draws = options.draws > 0 ? options.draws : output_width(map, window);
  const RandomFunction random = signs_of(options, number);
  Products products{draws, T, std::vector<double>(draws * T)};
  const std::size_t most = std::max<std::size_t>(1, tokens_at_once / T);
  for (std::size_t first = 0; first < draws; first += most)
    multiply(map, window, t, first, std::min(most, draws - first),
             options.draws > 0 ? &random : nullptr, products);
  return products;
}

/// The step of a central difference in units of the window's root mean square.
double step_of(const Tensor& u) {
  double square = 0;
  for (std::size_t i = 0; i < u.size(); ++i) square += double(u.data()[i]) * double(u.data()[i]);
  const double size = std::sqrt(square / double(u.size()));
  return std::cbrt(double(std::numeric_limits<real>::epsilon())) * (size > 0 ? size : 1);
}

/// y where the channels of u(s) are moved by `by` times the signs of each draw, or one by one.
Tensor moved(const SequenceMap& map, const ProbeWindow& window, std::size_t s, double by,
             std::size_t first, std::size_t rows, const RandomFunction* random) {
  ProbeWindow all = copies(window, rows);
  const std::size_t T = all.u.shape()[1], D = all.u.shape()[2];
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t c = 0; c < D; ++c)
      if (random || c == first + row)
        all.u.data()[(row * T + s) * D + c] +=
            real(by) * (random ? sign_of(*random, first + row, s, c, D) : real(1));
  Tape tape;
  tape.recording = false;
  return map(tape, tape.view(all.u), all).value();
}

/// |dy(t)/du(s) v|^2 / E of each draw v and t, D times that of single channels: the mean over the
/// draws is |dy(t)/du(s)|_F^2 / E.
Products responses_to(const SequenceMap& map, const ProbeWindow& window, std::size_t number,
                      std::size_t s, const ProbeOptions& options) {
  const std::size_t T = window.u.shape()[1], D = window.u.shape()[2];
  const std::size_t draws = options.draws > 0 ? options.draws : D;
  const RandomFunction random = signs_of(options, number);
  const RandomFunction* signs = options.draws > 0 ? &random : nullptr;
  Products responses{draws, T, std::vector<double>(draws * T)};
  const double step = step_of(window.u);
  const std::size_t most = std::max<std::size_t>(1, tokens_at_once / T);
  for (std::size_t first = 0; first < draws; first += most) {
    const std::size_t rows = std::min(most, draws - first);
    const Tensor up = moved(map, window, s, step, first, rows, signs);
    const Tensor down = moved(map, window, s, -step, first, rows, signs);
    const std::size_t E = up.shape()[2];
    for (std::size_t i = 0; i < up.size(); ++i) {
      const double slope = (double(up.data()[i]) - double(down.data()[i])) / (2 * step);
      responses.squares[first * T + i / E] += slope * slope * (signs ? 1 : double(D)) / double(E);
    }
  }
  return responses;
}

/// Whether y in the middle of a window depends on later tokens; by a Fourier transform what cannot
/// be seen leaks in by rounding.
bool sees_ahead(const SequenceMap& map, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options) {
  const auto longest = std::ranges::max_element(windows, {}, tokens_of);
  const std::size_t T = tokens_of(*longest), t = T / 2;
  const Products products = products_at(map, *longest, 0, t, {.draws = 1, .seed = options.seed});
  double past = 0, ahead = 0;
  for (std::size_t s = 0; s < T; ++s) (s > t ? ahead : past) += products.squares[s];
  return std::sqrt(ahead) > 1e3 * double(std::numeric_limits<real>::epsilon()) * std::sqrt(past);
}

/// Adds what a window says of a lag to the sums of the curve.
void add_lag(LagCurve& curve, std::size_t n, const Products& products, std::size_t s, bool exact) {
  if (curve.square.size() <= n) {
    curve.square.resize(n + 1);
    curve.error.resize(n + 1);
    curve.windows.resize(n + 1);
  }
  const double K = double(products.draws);
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < products.draws; ++k) sum += products.squares[k * products.T + s];
  for (std::size_t k = 0; k < products.draws; ++k)
    squares += std::pow(products.squares[k * products.T + s] - sum / K, 2);
  curve.square[n] += sum / K;
  if (!exact && products.draws > 1) curve.error[n] += squares / (K - 1) / K;
  ++curve.windows[n];
}

/// Means over the windows, and the root of the mean's variance.
void finish(LagCurve& curve) {
  for (std::size_t n = 0; n < curve.square.size(); ++n) {
    const double count = double(std::max<std::size_t>(1, curve.windows[n]));
    curve.square[n] /= count;
    curve.error[n] = std::sqrt(curve.error[n]) / count;
  }
}

void add_window(Influence& influence, const Products& products, std::size_t t, std::size_t T,
                bool ahead, bool exact) {
  for (std::size_t n = 0; n <= t; ++n) add_lag(influence.past, n, products, t - n, exact);
  for (std::size_t n = 1; ahead && t + n < T; ++n)
    add_lag(influence.ahead, n, products, t + n, exact);
}

}  // namespace

std::vector<double> Influence::by_distance() const {
  std::vector<double> sums(std::max(past.square.size(), ahead.square.size()));
  for (const LagCurve* curve : {&past, &ahead})
    for (std::size_t n = 0; n < curve->square.size(); ++n) sums[n] += std::sqrt(curve->square[n]);
  return sums;
}

Influence probe(const SequenceMap& map, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options) {
  require_windows(windows);
  const bool ahead = sees_ahead(map, windows, options), exact = options.draws == 0;
  Influence all;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t T = tokens_of(windows[i]), t = ahead ? T / 2 : T - 1;
    const Products products = products_at(map, windows[i], i, t, options);
    Influence one;
    for (Influence* to : {&one, &all}) add_window(*to, products, t, T, ahead, exact);
    all.half_lives.push_back(half_life(one.by_distance()));
  }
  finish(all.past);
  finish(all.ahead);
  return all;
}

Influence probe(Mixer& mixer, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options) {
  const SequenceMap map = [&mixer](Tape& tape, const Var& u, const ProbeWindow& window) {
    return mixer.forward(tape, u, window.layout);
  };
  return probe(map, windows, options);
}

std::vector<double> impulse_response(const SequenceMap& map,
                                     const std::vector<ProbeWindow>& windows,
                                     const ProbeOptions& options) {
  require_windows(windows);
  const bool ahead = sees_ahead(map, windows, options);
  LagCurve mean;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t T = tokens_of(windows[i]), s = ahead ? T / 2 : 0;
    const Products responses = responses_to(map, windows[i], i, s, options);
    for (std::size_t n = 0; s + n < T; ++n) add_lag(mean, n, responses, s + n, true);
  }
  finish(mean);
  for (double& square : mean.square) square = std::sqrt(square);
  return mean.square;
}

std::size_t half_life(const std::vector<double>& influence) {
  double total = 0, sum = 0;
  for (const double one : influence) total += one;
  for (std::size_t n = 0; n < influence.size(); ++n)
    if ((sum += influence[n]) >= total / 2) return n;
  return 0;
}

double share_beyond(const std::vector<double>& influence, std::size_t n) {
  double total = 0, beyond = 0;
  for (std::size_t i = 0; i < influence.size(); ++i) {
    total += influence[i];
    if (i > n) beyond += influence[i];
  }
  return total > 0 ? beyond / total : 0;
}

}  // namespace bochner::inline BOCHNER_PRECISION
