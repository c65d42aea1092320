#pragma once
/// Reference models of the benchmarks, the same as in bench/torch_steps.py.

#include <bochner/layers/models/token_models.hpp>
#include <functional>
#include <string>
#include <vector>

namespace bochner {

struct ReferenceModel {
  const char *name, *mixer;
  std::size_t width, heads, m, blocks, expansion, vocabulary, length, batch;
  std::size_t classes = 0;  ///< sequence classifier; 0 for a language model
  bool events = false;      ///< tokens with times in a Mercer encoding
  std::size_t frames = 0;   ///< field with as many rows and columns; 0 for tokens
};

/// Predicate that selects the models of a command.
using ModelFilter = bool (*)(const ReferenceModel&);
bool any_model(const ReferenceModel&);
/// Whether it is a language model.
bool writes_text(const ReferenceModel& reference);

/// Returns "tiny-performer, ... or all".
std::string reference_model_names(ModelFilter fits);
/// Returns the model of this name, or "all". Throws std::invalid_argument that lists the names.
std::vector<ReferenceModel> reference_models(const std::string& command, const std::string& name,
                                             ModelFilter fits);

/// Reference model with initial weights and its loss on a batch of random tokens.
struct ReferenceProblem {
  std::unique_ptr<Module> model;
  std::function<Var(Tape&)> loss;
  std::size_t tokens;
};
/// Makes a problem of `batch` sequences, 0 for the model's default.
ReferenceProblem make_problem(const ReferenceModel& reference, std::size_t batch);

/// Makes a language model with initial weights, without positions, which would limit the length.
std::unique_ptr<LanguageModel> make_generator(const ReferenceModel& reference);

Indices random_indices(const Shape& shape, std::size_t below, std::uint64_t stream);
/// Draws standard normal numbers.
Tensor random_numbers(const Shape& shape, std::uint64_t stream);

}  // namespace bochner
