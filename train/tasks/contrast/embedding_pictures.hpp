#pragma once
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Returns the first two principal components of rows. (n, d) -> (n, 2)
std::vector<double> principal_plane(const std::vector<double>& rows, std::size_t d);

/// Adds a section with the principal components of some embeddings, coloured by label.
void add_embeddings(Page& page, const Embeddings& embeddings, Split split);

}  // namespace bochner
