#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/convolutions/filter.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Var rows_of(const Var& rows, const Lags& lags) {
  if (!lags.descending) return slice(rows, 0, 0, lags.count);
  Indices reversed{{lags.count}, std::vector<std::int32_t>(lags.count)};
  for (std::size_t i = 0; i < lags.count; ++i)
    reversed.values[i] = std::int32_t(lags.count - 1 - i);
  return gather(rows, reversed);
}

TwoSidedFilter::TwoSidedFilter(const FilterSpec& spec, bool causal)
    : past_(filters().make(spec.kind, spec)), skip_({spec.channels()}, Initial::normal(1)) {
  if (!causal) future_ = filters().make(spec.kind, spec);
}

/// Returns the skip weight as a kernel, padded with `before` and `after` rows of zeros.
Var TwoSidedFilter::skip_kernel(Tape& tape, std::size_t before, std::size_t after) {
  return pad(reshape(tape(skip_), {1, skip_.shape()[0]}), 0, before, after);
}

TwoSidedFilter::Rows TwoSidedFilter::rows(Tape& tape, std::size_t T) {
  const std::size_t past = std::min(std::max<std::size_t>(T, 1), limit());
  const std::size_t future = future_ && T > 1 ? std::min(T - 1, limit()) : 0;
  Var kernel = past_->at(tape, {past});
  if (future > 0) kernel = concat({future_->at(tape, {future, true}), kernel}, 0);
  return {kernel + skip_kernel(tape, future, past - 1), future};
}

Tensor TwoSidedFilter::past(std::size_t lags, std::size_t first, std::size_t count) {
  Tape tape({.recording = false});
  const Var kernel = past_->at(tape, {std::min(lags, limit())});
  const Var all = kernel + skip_kernel(tape, 0, kernel.dim(0) - 1);
  return slice(all, 1, first, first + count).value();
}

Registry<Filter, FilterSpec>& filters() {
  static Registry<Filter, FilterSpec> registry = [] {
    Registry<Filter, FilterSpec> all("filter", {});
    for (const auto add : {add_implicit, add_explicit, add_dyadic, add_waves}) add(all);
    return std::move(all).built_in();
  }();
  return registry;
}

}  // namespace bochner::inline BOCHNER_PRECISION
