#include <array>
#include <bochner/bochner.hpp>
using namespace bochner;

/// Permutations of three elements, then [their product].
class Permutations : public TokenGenerator {
 public:
  explicit Permutations(const TokenTaskSpec& spec) : length_(spec.length) {}
  Questions make(Draws draws) const override {
    using Permutation = std::array<std::size_t, 3>;
    constexpr Permutation all[] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    Questions made;
    Permutation product = all[0];
    for (std::size_t t = 0; t < length_; ++t) {
      const std::size_t next = draws.below(6);
      made.tokens.push_back(std::int32_t(next));
      for (std::size_t& element : product) element = all[next][element];
    }
    made.tokens.push_back(std::int32_t(std::find(all, all + 6, product) - all));
    made.is_answer.assign(length_ + 1, false);
    made.is_answer.back() = true;
    return made;
  }
  std::size_t smallest_vocabulary() const override { return 6; }

 private:
  std::size_t length_;
};

void add_task() { token_tasks().add("permutations", make<Permutations>); }
