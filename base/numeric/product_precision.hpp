#pragma once
namespace bochner {

/// How matrix products of float read their factors.
enum class ProductPrecision {
  full,
  bfloat16,  ///< rounded to bfloat16; sums and results stay float
};

/// Returns the precision of products on the calling thread. Tasks of a parallel loop inherit that
/// of the thread that started it.
ProductPrecision product_precision();

/// Sets the precision of products on the calling thread during its lifetime.
class ProductPrecisionScope {
 public:
  explicit ProductPrecisionScope(ProductPrecision precision);
  ~ProductPrecisionScope();
  ProductPrecisionScope(const ProductPrecisionScope&) = delete;
  ProductPrecisionScope& operator=(const ProductPrecisionScope&) = delete;

 private:
  ProductPrecision before_;
};

/// Keeps products full in an op whose result or gradient is a small difference of large sums, such
/// as linear attention.
struct FullPrecision : ProductPrecisionScope {
  FullPrecision() : ProductPrecisionScope(ProductPrecision::full) {}
};

}  // namespace bochner
