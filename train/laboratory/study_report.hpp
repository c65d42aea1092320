#pragma once
/// A kernel study in words, as JSON and as a page.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/laboratory/kernel_study.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Tables and advice for the terminal.
std::string study_text(const KernelStudy& study, double wanted);
/// One JSON object on one line.
std::string study_json(const KernelStudy& study, double wanted);
/// The same with pictures; each study is a part of the page.
void add_study(Page& page, const KernelStudy& study, double wanted);

}  // namespace bochner::inline BOCHNER_PRECISION
