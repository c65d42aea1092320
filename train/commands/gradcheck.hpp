#pragma once
/// bochner gradcheck: gradients of small language models through all their parameters.

#include <CLI/App.hpp>
#include <bochner/autodiff/real.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

struct GradcheckOptions {
  std::string mixer, features, density;  ///< "" for all
  bool json = false;
};
constexpr const char* gradcheck_help = "gradients of small models against differences";
void add_options(CLI::App& command, GradcheckOptions& options);
/// In the precision of the library. Returns the exit code.
int check_gradients(const GradcheckOptions& options);

}  // namespace bochner::inline BOCHNER_PRECISION
