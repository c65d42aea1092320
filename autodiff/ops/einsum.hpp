#pragma once
/// Sums of products written by index names.

#include <bochner/autodiff/tape.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Computes einsum(a, b) of a pattern such as "bthd,bshd->bhts": one letter per axis; letters that
/// are missing from the result are summed. Runs as one batched matrix product. Throws for traces
/// (a letter twice in one array), "..", and sizes that differ. (..), (..) -> as written
Var einsum(const std::string& pattern, const Var& a, const Var& b);

}  // namespace bochner::inline BOCHNER_PRECISION
