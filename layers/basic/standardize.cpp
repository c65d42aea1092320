#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/layers/basic/standardize.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Standardize::Standardize(std::size_t variates)
    : mean_(zeros({variates})), deviation_(filled({variates}, real(1))) {}

void Standardize::set(const std::vector<double>& mean, const std::vector<double>& deviation) {
  require(mean.size() == mean_.size() && deviation.size() == mean_.size(), "standardize",
          mean.size(), " means and ", deviation.size(), " deviations of ", mean_.size(),
          " variates");
  for (std::size_t v = 0; v < mean.size(); ++v) {
    mean_(v) = real(mean[v]);
    deviation_(v) = deviation[v] > 0 ? real(deviation[v]) : real(1);
  }
}

template <class Change>
void Standardize::change_variates(Tensor& x, const Change& change) const {
  const std::size_t V = mean_.size();
  require(x.dimension() >= 2 && x.shape()[1] == V, "standardize", "x must be (B, ", V,
          ", ..), not ", x.shape());
  if (x.size() == 0) return;
  const std::size_t rows = x.shape()[0] * V, columns = x.size() / rows;
  parallel_rows(rows, columns, [&](std::size_t row) {
    real* values = x.data() + row * columns;
    const real mean = mean_(row % V), deviation = deviation_(row % V);
    for (std::size_t i = 0; i < columns; ++i) values[i] = change(values[i], mean, deviation);
  });
}

void Standardize::apply(Tensor& x) const {
  change_variates(x, [](real u, real mean, real deviation) { return (u - mean) / deviation; });
}

void Standardize::undo(Tensor& x) const {
  change_variates(x, [](real u, real mean, real deviation) { return u * deviation + mean; });
}

void Standardize::visit(Visitor& visitor) {
  visitor("mean", mean_);
  visitor("deviation", deviation_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
