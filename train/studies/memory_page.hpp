#pragma once
#include <bochner/train/charts/page.hpp>
#include <bochner/train/studies/memory_study.hpp>

namespace bochner {

/// Adds influence by lag, its cumulated share, impulse responses, and attention by lag.
void add_memory(Page& page, const MemoryStudy& study);

}  // namespace bochner
