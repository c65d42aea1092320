#include <algorithm>
#include <bochner/train/run/instruments/drawn_posteriors.hpp>

namespace bochner {

DrawnPosteriors::DrawnPosteriors(Module& model, std::uint64_t seed) : seed_(seed) {
  for (const NamedPart& part : parts_of(model))
    if (auto* posterior = dynamic_cast<ParameterPosterior*>(part.part))
      parts_.push_back({part.name, posterior});
}

bool DrawnPosteriors::are_drawn() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.posterior->is_drawn(); });
}

DrawnPosteriors::Draw::Draw(DrawnPosteriors& of, std::uint64_t number) : of_(of) {
  for (const Part& part : of.parts_)
    if (part.posterior->is_drawn())
      part.posterior->draw({of.seed_, Purpose::posterior, stream_of(part.name.c_str()) + number});
}

DrawnPosteriors::Draw::~Draw() {
  for (const Part& part : of_.parts_)
    if (part.posterior->is_drawn()) part.posterior->restore();
}

double DrawnPosteriors::add_gradients(double share) {
  double divergence = 0;
  for (const Part& part : parts_) {
    part.posterior->add_gradients(share);
    divergence += part.posterior->divergence();
  }
  return share * divergence;
}

double training_terms(Task& task, std::size_t batch) {
  Tape tape({.recording = false});
  const Examples examples = task.data().part(Split::train, 0, batch);
  const std::uint64_t terms = task.evaluate(tape, examples).terms;
  const double all = double(task.data().examples(Split::train));
  const double seen = std::min(double(batch), all);
  return std::max(1.0, double(terms) * all / seen);
}

}  // namespace bochner
