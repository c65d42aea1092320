#pragma once
/// Products of spectra of many rows, one row per lane.

#include <bochner/autodiff/compute/row_lanes.hpp>
#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

inline ComplexLanes product(const ComplexLanes& a, const ComplexLanes& b) {
  return {fused_lanes(a.re, b.re, -(a.im * b.im)), fused_lanes(a.re, b.im, a.im * b.re)};
}
inline ComplexLanes product_with_conjugate(const ComplexLanes& a, const ComplexLanes& b) {
  return {fused_lanes(a.re, b.re, a.im * b.im), fused_lanes(a.im, b.re, -(a.re * b.im))};
}
/// Computes to = a b; `to` may be a. (n)
inline void multiply_spectra(const ComplexLanes* a, const ComplexLanes* b, std::size_t n,
                             ComplexLanes* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] = product(a[k], b[k]);
}

/// Returns spectrum `index` of consecutively stored spectra.
inline const ComplexLanes* spectra_at(const Storage& spectra, std::size_t index, std::size_t bins) {
  return reinterpret_cast<const ComplexLanes*>(spectra.data()) + index * bins;
}
inline ComplexLanes* spectra_at(Storage& spectra, std::size_t index, std::size_t bins) {
  return reinterpret_cast<ComplexLanes*>(spectra.data()) + index * bins;
}

}  // namespace bochner::inline BOCHNER_PRECISION
