#pragma once
/// Windows that slide over two axes, and the positions that each sees.

#include <bochner/base/shape.hpp>

namespace bochner {

/// No position: beyond the edge.
inline constexpr std::size_t no_place = ~std::size_t(0);

struct WindowAxis {
  std::size_t n, size, stride, padding;
  std::size_t count() const {
    return n + 2 * padding < size ? 0 : (n + 2 * padding - size) / stride + 1;
  }
  std::size_t seen(std::size_t window, std::size_t tap) const {
    const std::size_t place = window * stride + tap;
    return place < padding || place - padding >= n ? no_place : place - padding;
  }
  /// Returns the window that sees a position with this tap.
  std::size_t seeing(std::size_t place, std::size_t tap) const {
    if (place + padding < tap || (place + padding - tap) % stride != 0) return no_place;
    const std::size_t window = (place + padding - tap) / stride;
    return window < count() ? window : no_place;
  }
};

/// Windows over the rows and columns of images (B, R, S, ..); taps are numbered row by row.
struct SlidingWindow {
  std::size_t batch;
  WindowAxis rows, columns;

  std::size_t taps() const { return rows.size * columns.size; }
  std::size_t places() const { return batch * rows.n * columns.n; }
  std::size_t windows() const { return batch * rows.count() * columns.count(); }

  /// Computes the position that each tap of a window sees. -> (taps)
  void seen(std::size_t window, std::size_t* places) const {
    const std::size_t R = rows.count(), S = columns.count(), image = window / (R * S);
    for_taps([&](std::size_t u, std::size_t v) {
      const std::size_t row = rows.seen(window / S % R, u), column = columns.seen(window % S, v);
      *places++ = row == no_place || column == no_place
                      ? no_place
                      : (image * rows.n + row) * columns.n + column;
    });
  }
  /// Computes the window that sees a position with each tap. -> (taps)
  void seeing(std::size_t place, std::size_t* windows) const {
    const std::size_t R = rows.n, S = columns.n, image = place / (R * S);
    for_taps([&](std::size_t u, std::size_t v) {
      const std::size_t row = rows.seeing(place / S % R, u), column = columns.seeing(place % S, v);
      *windows++ = row == no_place || column == no_place
                       ? no_place
                       : (image * rows.count() + row) * columns.count() + column;
    });
  }

 private:
  template <class Body>
  void for_taps(const Body& body) const {
    for (std::size_t u = 0; u < rows.size; ++u)
      for (std::size_t v = 0; v < columns.size; ++v) body(u, v);
  }
};

}  // namespace bochner
