#pragma once
/// The models at which this project measures itself, the same as in bench/torch_steps.py.

#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <functional>
#include <string>
#include <vector>

namespace bochner {

struct ReferenceModel {
  const char *name, *mixer;
  std::size_t width, heads, m, blocks, expansion, vocabulary, length, batch;
  std::size_t classes = 0;  ///< of a sequence classifier; 0 for a language model
  bool events = false;      ///< whether tokens have times, which a Mercer encoding lets in
  std::size_t frames = 0;   ///< of a field with as many rows and columns; 0 for tokens
};

/// Which of them a command takes.
using ModelFilter = bool (*)(const ReferenceModel&);
bool any_model(const ReferenceModel&);
/// Whether it is a language model.
bool writes_text(const ReferenceModel& reference);

/// "tiny-performer, ... or all"
std::string reference_model_names(ModelFilter fits);
/// The one of this name, or "all". Throws std::invalid_argument with the names that `command`
/// takes.
std::vector<ReferenceModel> reference_models(const std::string& command, const std::string& name,
                                             ModelFilter fits);

/// A reference model with its initial weights and a batch of random tokens.
struct ReferenceProblem {
  std::unique_ptr<Module> model;
  std::function<Var(Tape&)> loss;
  std::size_t tokens;
};
/// `batch` sequences, 0 for the model's own number.
ReferenceProblem make_problem(const ReferenceModel& reference, std::size_t batch);

/// A language model with its initial weights and without positions, which would end.
std::unique_ptr<LanguageModel> make_generator(const ReferenceModel& reference);

Indices random_indices(const Shape& shape, std::size_t below, std::uint64_t stream);
/// Standard normal.
Tensor random_numbers(const Shape& shape, std::uint64_t stream);

}  // namespace bochner
