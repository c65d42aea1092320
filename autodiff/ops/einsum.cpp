#include <algorithm>
#include <bochner/autodiff/ops/einsum.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <map>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Letters = std::string;
constexpr const char* einsum_name = "einsum";

bool has(const Letters& letters, char letter) { return letters.find(letter) != Letters::npos; }

/// Returns the letters of `from` that are in all of `in` and in none of `out`.
Letters chosen(const Letters& from, std::initializer_list<Letters> in,
               std::initializer_list<Letters> out = {}) {
  Letters result;
  for (const char letter : from) {
    const auto holds = [letter](const Letters& each) { return has(each, letter); };
    if (std::all_of(in.begin(), in.end(), holds) && std::none_of(out.begin(), out.end(), holds))
      result += letter;
  }
  return result;
}

/// The letters of both arrays and of the result.
struct Pattern {
  Letters a, b, result;

  explicit Pattern(const std::string& text) {
    const std::size_t comma = text.find(','), arrow = text.find("->");
    require_readable(comma < arrow && arrow != text.npos, text);
    a = letters_of(text, 0, comma);
    b = letters_of(text, comma + 1, arrow);
    result = letters_of(text, arrow + 2, text.size());
    for (const char letter : result)
      require(has(a, letter) || has(b, letter), einsum_name, "\"", text, "\" has index ",
              std::string(1, letter), " in its result only");
  }

 private:
  static void require_readable(bool readable, const std::string& text) {
    require(readable, einsum_name, "cannot read \"", text,
            "\"; two arrays are written as \"ij,jk->ik\", a letter per axis");
  }
  static Letters letters_of(const std::string& text, std::size_t begin, std::size_t end) {
    Letters letters;
    for (std::size_t i = begin; i < end; ++i) {
      const char c = text[i];
      if (c == ' ') continue;
      require_readable((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), text);
      require(!has(letters, c), einsum_name, "\"", text, "\" repeats index ", std::string(1, c),
              " in one array: traces are not supported");
      letters += c;
    }
    return letters;
  }
};

using Sizes = std::map<char, std::size_t>;

void add_sizes(const char* name, const Letters& letters, const Shape& shape, Sizes& sizes) {
  require(letters.size() == shape.size(), einsum_name, letters.size(), " indices \"", letters,
          "\" for ", name, " ", shape);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto [known, is_new] = sizes.emplace(letters[i], shape[i]);
    require(is_new || known->second == shape[i], einsum_name, "index ", std::string(1, letters[i]),
            " is ", known->second, " in a and ", shape[i], " in b");
  }
}

std::size_t count_of(const Letters& letters, const Sizes& sizes) {
  std::size_t count = 1;
  for (const char letter : letters) count *= sizes.at(letter);
  return count;
}

Var reshaped(const Var& x, const Shape& shape) {
  return x.shape() == shape ? x : reshape(x, shape);
}

/// Returns x with its axes in another order of their letters.
Var ordered(const Var& x, const Letters& from, const Letters& to) {
  if (from == to) return x;
  std::vector<int> order;
  for (const char letter : to) order.push_back(int(from.find(letter)));
  return transpose(x, order);
}

/// Sums the axes that only one array has and the result has not.
Var without_lone(const Var& x, Letters& letters, const Letters& other, const Letters& result) {
  Axes axes;
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (!has(other, letters[i]) && !has(result, letters[i])) axes.push_back(int(i));
  if (axes.empty()) return x;
  letters = chosen(letters, {}, {chosen(letters, {}, {other, result})});
  return sum(x, axes);
}

/// Groups of letters of a product: of all arrays, of a and b alone, and summed.
struct Groups {
  Letters batch, rows, columns, inner;
  explicit Groups(const Pattern& p)
      : batch(chosen(p.result, {p.a, p.b})),
        rows(chosen(p.result, {p.a}, {p.b})),
        columns(chosen(p.result, {p.b}, {p.a})),
        inner(chosen(p.a, {p.b}, {p.result})) {}
};

/// Returns the shape (batch, first, second), without a batch if it has no letters.
Shape matrix_shape(const Letters& batch, const Letters& first, const Letters& second,
                   const Sizes& sizes) {
  Shape shape;
  if (!batch.empty()) shape.push_back(count_of(batch, sizes));
  shape.push_back(count_of(first, sizes));
  shape.push_back(count_of(second, sizes));
  return shape;
}

/// Returns the result with axes batch, rows, columns, without permuting a factor that a product can
/// read transposed.
Var matrix_product(const Pattern& p, const Groups& g, const Var& a, const Var& b,
                   const Sizes& sizes) {
  const Letters left = g.batch + g.rows + g.inner, right = g.batch + g.inner + g.columns;
  const bool right_flips = p.b != right && p.b == g.batch + g.columns + g.inner;
  const bool left_flips = !right_flips && p.a != left && p.a == g.batch + g.inner + g.rows;
  const Var x = ordered(a, p.a, left_flips ? p.a : left);
  const Var y = ordered(b, p.b, right_flips ? p.b : right);
  const auto as_matrices = [&](const Var& v, bool flips, const Letters& first,
                               const Letters& second) {
    return reshaped(v, flips ? matrix_shape(g.batch, second, first, sizes)
                             : matrix_shape(g.batch, first, second, sizes));
  };
  const Var m = as_matrices(x, left_flips, g.rows, g.inner);
  const Var n = as_matrices(y, right_flips, g.inner, g.columns);
  return left_flips ? matmul_tn(m, n) : right_flips ? matmul_nt(m, n) : matmul(m, n);
}

/// Returns the product without a sum, with axes batch, rows, columns.
Var outer_product(const Pattern& p, const Groups& g, const Var& a, const Var& b,
                  const Sizes& sizes) {
  const Shape left = matrix_shape(g.batch, g.rows, "", sizes);
  const Shape right = matrix_shape(g.batch, "", g.columns, sizes);
  return reshaped(ordered(a, p.a, g.batch + g.rows), left) *
         reshaped(ordered(b, p.b, g.batch + g.columns), right);
}

}  // namespace

Var einsum(const std::string& pattern, const Var& a, const Var& b) {
  Pattern p(pattern);
  Sizes sizes;
  add_sizes("a", p.a, a.shape(), sizes);
  add_sizes("b", p.b, b.shape(), sizes);
  const Letters all_of_a = p.a;
  const Var x = without_lone(a, p.a, p.b, p.result), y = without_lone(b, p.b, all_of_a, p.result);
  const Groups g(p);
  const Var product =
      g.inner.empty() ? outer_product(p, g, x, y, sizes) : matrix_product(p, g, x, y, sizes);
  const Letters letters = g.batch + g.rows + g.columns;
  Shape shape;
  for (const char letter : letters) shape.push_back(sizes.at(letter));
  return ordered(reshaped(product, shape), letters, p.result);
}

}  // namespace bochner::inline BOCHNER_PRECISION
