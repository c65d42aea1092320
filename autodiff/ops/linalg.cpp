#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/base/numeric/openblas.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Entries = std::vector<std::size_t>;

bool broadcasts(const Shape& a, const Shape& b) {
  for (std::size_t back = 1; back <= std::min(a.size(), b.size()); ++back) {
    const std::size_t x = a[a.size() - back], y = b[b.size() - back];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

/// Returns for each entry of `batch` in order the index of the operand's matrix.
Entries entries_of(const Shape& operand, const Shape& batch) {
  Entries entries{0};
  const std::size_t offset = batch.size() - operand.size();
  for (std::size_t axis = 0; axis < batch.size(); ++axis) {
    const std::size_t size = axis < offset ? 1 : operand[axis - offset];
    Entries next;
    next.reserve(entries.size() * batch[axis]);
    for (std::size_t entry : entries) {
      for (std::size_t i = 0; i < batch[axis]; ++i)
        next.push_back(entry * size + (size == 1 ? 0 : i));
    }
    entries = std::move(next);
  }
  return entries;
}

/// Matrices, their size as read, and which one each batch entry reads.
struct Factor {
  const real* data;
  std::size_t rows, columns;
  Transpose transpose;
  const Entries& entries;

  bool flips() const { return transpose == transposed; }
  Operand at(std::size_t entry) const {
    return {data + entries[entry] * rows * columns, flips() ? rows : columns, transpose};
  }
  Factor flipped() const {
    return {data, columns, rows, flips() ? Transpose::no : transposed, entries};
  }
};

/// Shapes of one call: y[e] (M, N) = op(a[a_entries[e]]) op(b[b_entries[e]]).
struct Plan {
  Transpose transpose_a, transpose_b;
  Shape shape;
  std::size_t M, N, K;
  Entries a_entries, b_entries, y_entries;

  Factor left(const real* a) const { return {a, M, K, transpose_a, a_entries}; }
  Factor right(const real* b) const { return {b, K, N, transpose_b, b_entries}; }
};

Plan make_plan(const char* op, Transpose transpose_a, Transpose transpose_b, const Shape& a,
               const Shape& b) {
  require(a.size() >= 2 && b.size() >= 2, op, "both factors need two axes or more: a ", a, ", b ",
          b);
  const bool ta = transpose_a == transposed, tb = transpose_b == transposed;
  const std::size_t M = axis_size(a, ta ? -1 : -2), K = axis_size(a, ta ? -2 : -1);
  const std::size_t N = axis_size(b, tb ? -2 : -1);
  require(axis_size(b, tb ? -1 : -2) == K, op, "inner sizes differ: a ", a, ", b ", b);
  const Shape a_batch = without_last(a, 2), b_batch = without_last(b, 2);
  require(broadcasts(a_batch, b_batch), op, "leading axes do not broadcast: a ", a, ", b ", b);
  const Shape batch = broadcast_shape(op, a_batch, b_batch);
  Plan plan{transpose_a, transpose_b, batch, M, N, K, {0}, {0}, {0}};
  plan.shape.push_back(M);
  plan.shape.push_back(N);
  if (!ta && element_count(b_batch) == 1) {
    plan.M *= element_count(batch);  // one right factor for all rows: one product
  } else {
    plan.a_entries = entries_of(a_batch, batch);
    plan.b_entries = entries_of(b_batch, batch);
    plan.y_entries = entries_of(batch, batch);
  }
  return plan;
}

/// Computes c[e] = op(x[e]) op(y[e]) + beta c[e], row tiles of all entries in parallel.
void multiply(const Factor& x, const Factor& y, real beta, real* c) {
  const std::size_t M = x.rows, K = x.columns, N = y.columns;
  const std::size_t tiles = ceil_div(M, product_row_tile);
  const std::size_t grain = products_per_task(std::min(M, product_row_tile), N, K);
  parallel_each(x.entries.size() * tiles, grain, [&](std::size_t i) {
    const std::size_t entry = i / tiles, row = i % tiles * product_row_tile;
    gemm(std::min(M - row, product_row_tile), N, K, rows_from(row, x.at(entry)), y.at(entry), beta,
         c + (entry * M + row) * N, N);
  });
}

/// Adds op(x[e]) op(y[e]) to the gradient of the matrix that entry e read; `entries` may broadcast.
void add_product(const Var& v, const Factor& x, const Factor& y, const Entries& entries) {
  const std::size_t M = x.rows, K = x.columns, N = y.columns;
  const std::size_t targets = M * N == 0 ? 0 : v.size() / (M * N);
  if (targets == entries.size()) {
    const GradientTarget gradient(v);
    return multiply(x, y, gradient.beta, gradient.data);
  }
  real* gradient = v.gradient_buffer().data();
  if (targets == 0) return;
  std::vector<Entries> readers(targets);
  for (std::size_t entry = 0; entry < entries.size(); ++entry)
    readers[entries[entry]].push_back(entry);
  accumulate_products(
      {targets, entries.size() / targets, M, N, K, gradient, M * N, N},
      [&](std::size_t target, std::size_t term, real beta, real* sum, std::size_t ld) {
        const std::size_t entry = readers[target][term];
        gemm(M, N, K, x.at(entry), y.at(entry), beta, sum, ld);
      });
}

void add_gradients(const Plan& plan, const Var& a, const Var& b, const Tensor& g) {
  const Factor x = plan.left(a.data()), y = plan.right(b.data());
  const Factor dz{g.data(), plan.M, plan.N, Transpose::no, plan.y_entries};
  if (a.needs_gradient()) {
    const Factor &left = x.flips() ? y : dz, &right = x.flips() ? dz : y;
    add_product(a, left, right.flipped(), plan.a_entries);
  }
  if (!b.needs_gradient()) return;
  const Factor &left = y.flips() ? dz : x, &right = y.flips() ? x : dz;
  const bool tall = !x.flips() && plan.y_entries.size() == 1;
  if (!tall) return add_product(b, left.flipped(), right, plan.b_entries);
  accumulate_transposed_product(left.columns, right.columns, left.rows, left.data, left.columns,
                                right.data, right.columns, b.gradient_buffer().data(),
                                right.columns);
}

Var matrix_product(const char* op, Transpose transpose_a, Transpose transpose_b, const Var& a,
                   const Var& b) {
  Plan plan = make_plan(op, transpose_a, transpose_b, a.shape(), b.shape());
  Tensor y = uninitialized(plan.shape);
  multiply(plan.left(a.data()), plan.right(b.data()), 0, y.data());
  return record(
      op, std::move(y), {a, b},
      [a, b, plan = std::move(plan)](Tensor& g) { add_gradients(plan, a, b, g); },
      {{a, [&](const Var& d) { return matrix_product(op, transpose_a, transpose_b, d, b); }},
       {b, [&](const Var& d) { return matrix_product(op, transpose_a, transpose_b, a, d); }}});
}

/// Computes y[:, h, :] = x[:, h, :] op(w[h]) + beta y[:, h, :] in place. (rows, H, D) -> (rows, H,
/// E)
void multiply_heads(Transpose transpose, std::size_t rows, std::size_t H, std::size_t D,
                    std::size_t E, const real* x, const real* w, real beta, real* y) {
  const std::size_t tiles = ceil_div(rows, product_row_tile);
  const std::size_t ldw = transpose == transposed ? D : E;
  const std::size_t grain = products_per_task(std::min(rows, product_row_tile), D, E);
  parallel_each(tiles * H, grain, [=](std::size_t i) {
    const std::size_t row = i / H * product_row_tile, h = i % H;
    gemm(std::min(rows - row, product_row_tile), E, D, {x + (row * H + h) * D, H * D},
         {w + h * D * E, ldw, transpose}, beta, y + (row * H + h) * E, H * E);
  });
}

/// Adds dw[h] (m, d) += g[:, h, :]^T x[:, h, :].
void accumulate_heads(std::size_t rows, std::size_t H, std::size_t m, std::size_t d, const real* g,
                      const real* x, real* dw) {
  const std::size_t chunk = product_reduction_chunk, terms = ceil_div(rows, chunk);
  const auto add_rows = [=](std::size_t h, std::size_t s, real beta, real* sum, std::size_t ld) {
    const std::size_t row = s * chunk;
    gemm(m, d, std::min(rows - row, chunk), {g + (row * H + h) * m, H * m, transposed},
         {x + (row * H + h) * d, H * d}, beta, sum, ld);
  };
  accumulate_products({H, terms, m, d, std::min(rows, chunk), dw, m * d, d}, add_rows);
}

}  // namespace

Var matmul(const Var& a, const Var& b) {
  return matrix_product("matmul", Transpose::no, Transpose::no, a, b);
}

Var matmul_nt(const Var& a, const Var& b) {
  return matrix_product("matmul_nt", Transpose::no, transposed, a, b);
}

Var matmul_tn(const Var& a, const Var& b) {
  return matrix_product("matmul_tn", transposed, Transpose::no, a, b);
}

Var project_heads(const Var& x, const Var& w) {
  require(x.rank() >= 2 && w.rank() == 3 && w.dim(0) == x.dim(-2) && w.dim(2) == x.dim(-1),
          "project_heads", "w must be (H, m, d) for x (.., H, d): x ", x.shape(), ", w ",
          w.shape());
  const std::size_t H = w.dim(0), m = w.dim(1), d = w.dim(2);
  const std::size_t rows = element_count(without_last(x.shape(), 2));
  Tensor y = uninitialized(with_last(x.shape(), m));
  multiply_heads(transposed, rows, H, d, m, x.data(), w.data(), 0, y.data());
  return record("project_heads", std::move(y), {x, w},
                [x, w, rows, H, m, d](Tensor& g) {
                  if (x.needs_gradient()) {
                    const GradientTarget dx(x);
                    multiply_heads(Transpose::no, rows, H, m, d, g.data(), w.data(), dx.beta,
                                   dx.data);
                  }
                  if (w.needs_gradient())
                    accumulate_heads(rows, H, m, d, g.data(), x.data(), w.gradient_buffer().data());
                },
                {{x, [&](const Var& t) { return project_heads(t, w); }},
                 {w, [&](const Var& t) { return project_heads(x, t); }}});
}

Tensor orthogonalize(const Tensor& a) {
  require(a.dimension() == 2 && a.shape()[0] == a.shape()[1], "orthogonalize",
          "the matrix must be square: a ", a.shape());
  if (a.size() == 0) return a;
  const std::vector<double> q = orthonormal_factor({a.begin(), a.end()}, a.shape()[0]);
  Tensor result = uninitialized(a.shape());
  std::copy(q.begin(), q.end(), result.data());
  return result;
}

}  // namespace bochner::inline BOCHNER_PRECISION
