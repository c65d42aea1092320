#pragma once
/// OpenBLAS serves LAPACK, and products in double.

#include <string>

namespace bochner {

struct GemmBackend {
  std::string name;     ///< "oneDNN 2.6.3" or "OpenBLAS 0.3.21"
  std::string kernel;   ///< instruction set or core name in use
  std::string warning;  ///< empty, or what is wrong and what to do
};

/// To be called before it is used: puts it on one thread and repairs a mis-detected one, before its
/// threads exist.
const GemmBackend& start_openblas();

}  // namespace bochner
