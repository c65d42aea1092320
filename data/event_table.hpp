#pragma once
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/autodiff/times.hpp>
#include <bochner/data/array.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// One sequence of events.
struct EventTable {
  Indices types;  ///< (1, rows)
  Times times;    ///< (1, rows), ascending
};

/// From the columns "time" and "type", else from the column of time stamps and the other one, else
/// from the first two. Throws DataError with the row where a time is before the one above it, or a
/// type is no whole number below `types`.
EventTable event_table(const NamedArray& array, std::size_t types);

}  // namespace bochner::inline BOCHNER_PRECISION
