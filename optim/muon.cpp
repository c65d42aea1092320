#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/base/text.hpp>
#include <bochner/optim/adam.hpp>
#include <bochner/optim/muon.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns whether a parameter is a matrix between hidden layers: not an embedding, head,
/// convolution or spectral parameter.
bool is_hidden_matrix(const NamedParameter& named) {
  const Shape& shape = named.parameter->shape();
  const std::string path = "." + named.name;
  if (shape.size() != 2 || std::min(shape[0], shape[1]) < 2 || is_spectral(named.name))
    return false;
  return matches("*.weight", path) && !matches("*.head.weight", path) &&
         !matches("*.embedding*", path) && !matches("*.positions.*", path) &&
         !matches("*.convolution.*", path);
}

/// A matrix in memory, row-major, with room for its products.
struct Matrix {
  std::size_t rows, columns;
  std::vector<real> values;

  Matrix(std::size_t rows, std::size_t columns)
      : rows(rows), columns(columns), values(rows * columns) {}
  Operand operand(Transpose transpose = Transpose::no) const {
    return {values.data(), columns, transpose};
  }
};

/// Computes c = a b + beta c.
void set_product(const Operand& a, const Operand& b, std::size_t inner, real beta, Matrix& c) {
  gemm(c.rows, c.columns, inner, a, b, beta, c.values.data(), c.columns);
}

/// Moves the singular values of x (rows <= columns) towards 1 by x <- a x + (b G + c G^2) x with
/// G = x x^T. Coefficients of Jordan et al., "Muon: an optimizer for hidden layers in neural
/// networks", 2024.
void orthogonalize(Matrix& x, std::size_t iterations) {
  constexpr real a = real(3.4445), b = real(-4.775), c = real(2.0315);
  constexpr double smallest = 1e-7;
  double square = 0;
  for (const real value : x.values) square += double(value) * double(value);
  const real norm = real(std::max(std::sqrt(square), smallest));
  for (real& value : x.values) value /= norm;
  Matrix gram(x.rows, x.rows), cubic(x.rows, x.rows), before(x.rows, x.columns);
  for (std::size_t i = 0; i < iterations; ++i) {
    set_product(x.operand(), x.operand(transposed), x.columns, 0, gram);
    set_product(gram.operand(), gram.operand(), x.rows, 0, cubic);
    for (std::size_t j = 0; j < gram.values.size(); ++j)
      cubic.values[j] = b * gram.values[j] + c * cubic.values[j];
    before.values = x.values;
    set_product(cubic.operand(), before.operand(), x.rows, a, x);
  }
}

/// Matrices of hidden layers step along the orthogonalised running mean of their gradient, fused
/// projections (D, k D) matrix by matrix; the other parameters follow adamw. Jordan et al. (2024);
/// the scale "rms" is of Liu et al., "Muon is scalable for LLM training", 2025, normalized neurons
/// of Li et al., "NorMuon: making Muon more efficient and scalable", 2025.
class Muon : public Adam {
 public:
  Muon(const OptimizerSpec& spec, const MuonSpec& own)
      : Adam(spec, {is_hidden_matrix, shape_of_moments(own.muon)}), own_(own.muon) {
    for (const NamedParameter& named : spec.parameters)
      is_fused_.push_back(matches("*projections.weight", named.name));
  }

 private:
  /// Matrices have a running mean of the gradient, and a mean square for each output or none.
  static std::function<Shape(std::size_t, const Shape&)> shape_of_moments(const MatrixStep& step) {
    return [squares = step.normalize == "neurons"](std::size_t moment, const Shape& shape) {
      return moment == 0 ? shape : Shape{squares ? shape[1] : 0};
    };
  }

  void update_whole(const Piece& piece, const Shape& shape, double learning_rate,
                    double weight_decay) override {
    const std::size_t rows = shape[0], columns = shape[1];
    const bool fused = is_fused_[piece.parameter] && columns % rows == 0;
    const std::size_t width = fused ? rows : columns;
    std::vector<real> direction = mean_gradient(piece);
    for (std::size_t begin = 0; begin < columns; begin += width)
      orthogonalize_columns(direction.data() + begin, columns, rows, width);
    if (own_.normalize == "neurons") normalize_columns(direction, moment(1, piece), columns);
    const double factor = own_.scale == "rms"
                              ? 0.2 * std::sqrt(double(std::max(rows, width)))
                              : std::sqrt(std::max(1.0, double(width) / double(rows)));
    const real rate = real(learning_rate * factor), shrink = real(learning_rate * weight_decay);
    const bool cautious = is_cautious();
    for (std::size_t i = 0; i < piece.size; ++i)
      piece.weight[i] -=
          rate * direction[i] + decay_of(cautious, shrink, direction[i], piece.weight[i]);
  }

  std::vector<real> mean_gradient(const Piece& piece) {
    const real momentum = real(own_.momentum), share = real(1 - own_.momentum);
    real* mean = moment(0, piece);
    std::vector<real> direction(piece.size);
    for (std::size_t i = 0; i < piece.size; ++i) {
      const real g = piece.gradient[i];
      mean[i] += share * (g - mean[i]);
      direction[i] = own_.nesterov ? g + momentum * (mean[i] - g) : mean[i];
    }
    return direction;
  }

  /// Orthogonalizes columns of a matrix whose rows are `stride` apart.
  void orthogonalize_columns(real* values, std::size_t stride, std::size_t rows,
                             std::size_t columns) const {
    const bool turned = rows > columns;
    Matrix x(std::min(rows, columns), std::max(rows, columns));
    const auto at = [&](std::size_t i, std::size_t j) -> real& {
      return turned ? x.values[j * rows + i] : x.values[i * columns + j];
    };
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) at(i, j) = values[i * stride + j];
    orthogonalize(x, own_.iterations);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) values[i * stride + j] = at(i, j);
  }

  /// Divides each column by the root of its running mean square, and all by one number that keeps
  /// the norm. squares (columns)
  void normalize_columns(std::vector<real>& x, real* squares, std::size_t columns) const {
    constexpr double smallest = 1e-16;
    const double kept = own_.normalize_beta, rows = double(x.size() / columns);
    std::vector<double> sums(columns), inverse(columns);
    for (std::size_t row = 0; row < x.size(); row += columns)
      for (std::size_t j = 0; j < columns; ++j) sums[j] += double(x[row + j]) * double(x[row + j]);
    double before = 0, after = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      squares[j] = real(kept * double(squares[j]) + (1 - kept) * sums[j] / rows);
      inverse[j] = 1 / std::sqrt(double(squares[j]) + smallest);
      before += sums[j], after += sums[j] * inverse[j] * inverse[j];
    }
    const double factor = after > 0 ? std::sqrt(before / after) : 0;
    for (std::size_t row = 0; row < x.size(); row += columns)
      for (std::size_t j = 0; j < columns; ++j) x[row + j] *= real(factor * inverse[j]);
  }

  MatrixStep own_;
  std::vector<char> is_fused_;
};

}  // namespace

void add_muon(Optimizers& all) { all.add("muon", make<Muon, MuonSpec>, {.whole_tensors = true}); }

}  // namespace bochner::inline BOCHNER_PRECISION
