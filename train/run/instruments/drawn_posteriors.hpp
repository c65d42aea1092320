#pragma once
/// The posteriors of a model's parameters, drawn for a step or for a prediction.

#include <bochner/layers/spectral/parameter_posterior.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

class DrawnPosteriors {
 public:
  /// Of all parts that have one, or a prior only. Draws are functions of the seed, the part's name
  /// and a number.
  DrawnPosteriors(Module& model, std::uint64_t seed);

  bool empty() const { return parts_.empty(); }
  /// Whether there are any to draw from, and not priors only.
  bool are_drawn() const;

  /// A draw stands in the parameters as long as this lives.
  class Draw {
   public:
    Draw(DrawnPosteriors& of, std::uint64_t number);
    ~Draw();
    Draw(const Draw&) = delete;
    Draw& operator=(const Draw&) = delete;

   private:
    DrawnPosteriors& of_;
  };

  /// Adds to the gradients, which hold that of a mean of losses by the last draw, what is missing
  /// to that of the loss plus `share` times the divergence of all posteriors from their priors.
  /// -> that product
  double add_gradients(double share);

 private:
  struct Part {
    std::string name;
    ParameterPosterior* posterior;
  };
  std::vector<Part> parts_;
  std::uint64_t seed_;
};

/// How many terms the loss of all training examples has, as far as its first batch tells.
double training_terms(Task& task, std::size_t batch);

}  // namespace bochner
