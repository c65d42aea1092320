#pragma once
/// Pictures of embeddings for reports.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Where rows lie along the two directions in which they differ most, from their mean. (n, d) ->
/// (n, 2)
std::vector<double> principal_plane(const std::vector<double>& rows, std::size_t d);

/// A section with the embeddings of some examples in that plane, coloured by their labels.
void add_embeddings(Page& page, const Embeddings& embeddings, Split split);

}  // namespace bochner
