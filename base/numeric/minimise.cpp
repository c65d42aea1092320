#include <nlopt.h>

#include <algorithm>
#include <bochner/base/numeric/minimise.hpp>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <new>

namespace bochner {
namespace {

class Search {
 public:
  Search(const SmoothFunction& f, std::vector<double> x, const std::vector<double>& low,
         const std::vector<double>& high, double steepness)
      : f_(f),
        low_(low),
        high_(high),
        steepness_(steepness),
        least_{std::move(x), std::numeric_limits<double>::infinity()} {}

  Minimum run(int evaluations) {
    nlopt_set_min_objective(nlopt_.get(), &Search::objective, this);
    nlopt_set_lower_bounds(nlopt_.get(), low_.data());
    nlopt_set_upper_bounds(nlopt_.get(), high_.data());
    nlopt_set_vector_storage(nlopt_.get(), 10);
    nlopt_set_ftol_rel(nlopt_.get(), 1e-11);
    nlopt_set_maxeval(nlopt_.get(), evaluations);
    std::vector<double> x = least_.x;
    double value = 0;
    // However it ends, for instance when rounding swallows a step, least_ has the result.
    const nlopt_result ended = nlopt_optimize(nlopt_.get(), x.data(), &value);
    if (failure_) std::rethrow_exception(failure_);
    if (ended == NLOPT_OUT_OF_MEMORY) throw std::bad_alloc();
    return least_;
  }

 private:
  /// Called by NLopt, which no exception may leave.
  static double objective(unsigned, const double* x, double* gradient, void* search) noexcept {
    auto& self = *static_cast<Search*>(search);
    try {
      return self.value_at(x, gradient);
    } catch (...) {
      self.failure_ = std::current_exception();
      nlopt_force_stop(self.nlopt_.get());
      return std::numeric_limits<double>::infinity();
    }
  }

  double value_at(const double* at, double* slopes) {
    const std::vector<double> x(at, at + low_.size());
    std::vector<double> gradient(x.size());
    const double value = f_(x, gradient);
    if (value < least_.value) least_ = {x, value};
    if (std::isfinite(value) && is_flat(x, gradient)) nlopt_force_stop(nlopt_.get());
    if (slopes) std::ranges::copy(gradient, slopes);
    return value;
  }

  /// Returns whether no gradient component that stays in the box exceeds `steepness`.
  bool is_flat(const std::vector<double>& x, const std::vector<double>& gradient) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool leaves = gradient[i] > 0 ? x[i] <= low_[i] : x[i] >= high_[i];
      if (!leaves && std::fabs(gradient[i]) > steepness_) return false;
    }
    return true;
  }

  const SmoothFunction& f_;
  const std::vector<double>&low_, &high_;
  double steepness_;
  Minimum least_;
  std::exception_ptr failure_;
  std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> nlopt_{
      nlopt_create(NLOPT_LD_LBFGS, unsigned(low_.size())), nlopt_destroy};
};

}  // namespace

Minimum minimise_in_box(const SmoothFunction& f, std::vector<double> x,
                        const std::vector<double>& low, const std::vector<double>& high,
                        double steepness, int evaluations) {
  return Search(f, std::move(x), low, high, steepness).run(evaluations);
}

}  // namespace bochner
