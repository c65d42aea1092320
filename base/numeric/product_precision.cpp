#include <bochner/base/numeric/product_precision.hpp>

namespace bochner {
namespace {
thread_local ProductPrecision current = ProductPrecision::full;
}

ProductPrecision product_precision() { return current; }

ProductPrecisionScope::ProductPrecisionScope(ProductPrecision precision) : before_(current) {
  current = precision;
}
ProductPrecisionScope::~ProductPrecisionScope() { current = before_; }

}  // namespace bochner
