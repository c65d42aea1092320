#pragma once
/// Posteriors of a model's parameters, drawn for a step or for a prediction.

#include <bochner/layers/spectral/parameter_posterior.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

class DrawnPosteriors {
 public:
  /// Collects all parts with a posterior or prior. Draws depend on seed, part name and number.
  DrawnPosteriors(Module& model, std::uint64_t seed);

  bool empty() const { return parts_.empty(); }
  /// Whether there are posteriors to draw from, not only priors.
  bool are_drawn() const;

  /// Holds a draw in the parameters during its lifetime.
  class Draw {
   public:
    Draw(DrawnPosteriors& of, std::uint64_t number);
    ~Draw();
    Draw& operator=(Draw&&) = delete;

   private:
    DrawnPosteriors& of_;
  };

  /// Adds `share` times the divergence of all posteriors from their priors to the gradients, which
  /// hold those of a mean loss by the last draw. -> that product
  double add_gradients(double share);

 private:
  struct Part {
    std::string name;
    ParameterPosterior* posterior;
  };
  std::vector<Part> parts_;
  std::uint64_t seed_;
};

/// Estimates the number of terms in the loss of all training examples from the first batch.
double training_terms(Task& task, std::size_t batch);

}  // namespace bochner
