#include <bochner/train/run/evaluation_sums.hpp>

namespace bochner {

std::vector<double> sums_in(const Evaluation& part) {
  std::vector<double> sums = {part.loss_sum, double(part.terms)};
  for (const Measure& measure : part.measures)
    sums.insert(sums.end(), {measure.sum, measure.terms});
  return sums;
}

Evaluation with_sums(Evaluation part, const double* sums) {
  part.loss_sum = *sums++;
  part.terms = std::uint64_t(*sums++);
  for (Measure& measure : part.measures) {
    measure.sum = *sums++;
    measure.terms = *sums++;
  }
  return part;
}

}  // namespace bochner
