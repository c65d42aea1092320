#pragma once
/// What all optimizers share: parameters, settings, moments, counts; and the factory by name.

#include <bochner/autodiff/tape.hpp>
#include <bochner/optim/flat_loop.hpp>
#include <bochner/optim/groups.hpp>
#include <memory>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update from the parameters' gradients. A parameter without a gradient is left alone, and
  /// so are its moments and its count of updates.
  void step(double learning_rate);
  /// Forgets the gradients, so that the next backward pass starts from nothing.
  void zero_gradients();

  /// Everything that a checkpoint needs: "adamw.first_moment/NAME" of each parameter,
  /// and "adamw.updates" (parameters).
  std::vector<NamedTensor> state();

 protected:
  /// `moments` are the names of the tensors of zeros kept for each parameter. The parameters must
  /// outlive the optimizer.
  Optimizer(std::string kind, std::vector<NamedParameter> parameters,
            std::vector<ParameterSettings> settings, std::vector<std::string> moments);

  /// A run of consecutive elements of one parameter.
  struct Piece {
    std::size_t parameter, begin, size;
    real* weight;
    const real* gradient;
  };
  virtual void update(const Piece& piece, double learning_rate, double weight_decay) = 0;

  real* moment(std::size_t which, const Piece& piece) {
    return moments_[which].tensors[piece.parameter].data() + piece.begin;
  }
  /// How often the piece's parameter has been updated, this time included.
  double updates(const Piece& piece) const { return double(updates_.data()[piece.parameter]); }

 private:
  struct Moment {
    std::string name;
    std::vector<Tensor> tensors;
  };

  void count_updates();

  std::string kind_;
  std::vector<NamedParameter> parameters_;
  std::vector<ParameterSettings> settings_;
  std::vector<Moment> moments_;
  Tensor updates_;  // a tensor so that it is saved like the moments; exact up to 2^24
  FlatLoop loop_;
};

/// What a config says about an optimizer.
struct OptimizerSpec {
  std::string kind = "adamw";  ///< sgd, adam or adamw
  double momentum = 0;         ///< sgd
  bool nesterov = false;       ///< sgd
  double beta1 = 0.9;          ///< adam, adamw
  double beta2 = 0.999;        ///< adam, adamw
  double epsilon = 1e-8;       ///< adam, adamw
  double weight_decay = 0;     ///< see resolve_groups() for whom
  std::vector<ParameterGroup> groups = {};
};

/// Throws when the kind is unknown, a number is out of range or a group matches nothing.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec,
                                          const std::vector<NamedParameter>& parameters);

}  // namespace bochner::inline BOCHNER_PRECISION
