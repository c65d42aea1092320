#include <bochner/train/cli.hpp>

namespace bochner::inline BOCHNER_PRECISION {

int cli(int, char**) { return 2; }

}  // namespace bochner::inline BOCHNER_PRECISION
