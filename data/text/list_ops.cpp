#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/data/text/list_ops.hpp>
#include <numeric>

namespace bochner {
namespace {

constexpr double operation_probability = 0.25;
constexpr int most_attempts = 100000;

std::int32_t evaluate(std::int32_t operation, std::vector<std::int32_t>& values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  if (operation == list_minimum) return std::ranges::min(values);
  if (operation == list_maximum) return std::ranges::max(values);
  if (operation == list_sum_modulo_10) return std::accumulate(values.begin(), values.end(), 0) % 10;
  std::ranges::sort(values);
  return values.size() % 2 == 1 ? *middle : (*middle + *(middle - 1)) / 2;
}

/// Random tree, abandoned as soon as it has too many tokens.
class Tree {
 public:
  Tree(const ListOpsSpec& spec, Draws& draws, std::vector<std::int32_t>& tokens)
      : spec_(spec), draws_(draws), tokens_(tokens), limit_(tokens.size() + spec.longest) {}

  std::optional<std::int32_t> operation(std::size_t depth) {
    const std::int32_t kind = list_minimum + std::int32_t(draws_.below(4));
    std::vector<std::int32_t> values(2 + draws_.below(spec_.arguments - 1));
    tokens_.push_back(kind);
    for (std::int32_t& value : values) {
      const auto drawn = node(depth + 1);
      if (!drawn) return std::nullopt;
      value = *drawn;
    }
    tokens_.push_back(list_end);
    if (tokens_.size() > limit_) return std::nullopt;
    return evaluate(kind, values);
  }

 private:
  std::optional<std::int32_t> node(std::size_t depth) {
    if (depth < spec_.depth && draws_.chance(operation_probability)) return operation(depth);
    if (tokens_.size() >= limit_) return std::nullopt;
    tokens_.push_back(std::int32_t(draws_.below(10)));
    return tokens_.back();
  }
  const ListOpsSpec& spec_;
  Draws& draws_;
  std::vector<std::int32_t>& tokens_;
  std::size_t limit_;
};

}  // namespace

LabelledExample make_list_ops(const ListOpsSpec& spec, Draws draws) {
  LabelledExample example;
  const std::size_t head = spec.class_token ? 1 : 0;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    example.tokens.assign(head, list_class);
    const auto value = Tree(spec, draws, example.tokens).operation(1);
    if (!value || example.tokens.size() < head + spec.shortest) continue;
    example.label = *value;
    return example;
  }
  throw DataError("data.shortest = ", spec.shortest,
                  ": hardly any listops expression has so many tokens and at most data.length = ",
                  spec.longest, "; choose a smaller data.shortest");
}

double largest_list_ops(const ListOpsSpec& spec) {
  double tokens = 1;
  for (std::size_t level = 1; level < spec.depth; ++level)
    tokens = 2 + double(spec.arguments) * tokens;
  return tokens;
}

ListOps::ListOps(const ListOpsSpec& spec, const ExampleSet& examples)
    : LabelledSequences(examples,
                        {list_ops_vocabulary, 10, spec.longest + spec.class_token, list_padding}),
      spec_(spec) {
  require(spec.arguments >= 2, "list_ops", "data.arguments = ", spec.arguments,
          ": must be at least 2");
  require(spec.depth >= 2, "list_ops", "data.depth = ", spec.depth, ": must be at least 2");
  require(spec.longest >= 4 && spec.shortest <= spec.longest, "list_ops",
          "data.shortest = ", spec.shortest, ", data.length = ", spec.longest,
          ": no expression has such a size");
  require(double(spec.shortest) <= largest_list_ops(spec), "list_ops",
          "data.shortest = ", spec.shortest, ": with data.depth = ", spec.depth,
          " and data.arguments = ", spec.arguments, " an expression has at most ",
          largest_list_ops(spec), " tokens");
}

std::uint64_t ListOps::fingerprint() const {
  return examples_.fingerprint(
      "listops", {spec_.shortest, spec_.longest, spec_.depth, spec_.arguments, spec_.class_token});
}

std::string ListOps::describe() const {
  return in_words("listops, ", spec_.shortest, " to ", spec_.longest, " tokens");
}

}  // namespace bochner
