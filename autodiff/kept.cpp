#include <bochner/autodiff/kept.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

template <class From, class To>
void convert(std::size_t n, const From* from, To* to) {
  parallel_for(n, elementwise_grain(n), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = To(from[i]);
  });
}

}  // namespace

Kept::Kept(const Var& x) : x_(x) {
  constexpr std::size_t worthwhile = 65536;
  if (product_precision() != ProductPrecision::bfloat16 || !x.needs_gradient() ||
      x.size() < worthwhile)
    return;
  const auto rounded = std::make_shared<PooledNumbers<Bfloat16>>(x.size());
  convert(x.size(), x.data(), rounded->data());
  rounded_ = rounded;
  x_ = x.gradient_only();
}

Var Kept::operator()() const {
  if (!rounded_) return x_;
  auto value = std::make_shared<Tensor>(uninitialized(x_.shape()));
  convert(rounded_->size(), rounded_->data(), value->data());
  return x_.with_value(std::move(value));
}

}  // namespace bochner::inline BOCHNER_PRECISION
