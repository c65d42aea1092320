#pragma once
#include <bochner/train/charts/page.hpp>
#include <bochner/train/laboratory/memory_study.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Influence by lag, its cumulated share, impulse responses, and attention by lag.
void add_memory(Page& page, const MemoryStudy& study);

}  // namespace bochner::inline BOCHNER_PRECISION
