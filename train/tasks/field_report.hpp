#pragma once
/// Fields and their encodings in pictures.

#include <bochner/data/fields.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Last frame, truth, prediction and error side by side, one example after the other. prediction
/// (B, H, W)
void add_fields(Page& page, const FieldBatch& fields, const Tensor& prediction);
/// The encoding by place and by time, and its inner products with one place and among times.
void add_encoding(Page& page, FieldModel& model);

}  // namespace bochner::inline BOCHNER_PRECISION
