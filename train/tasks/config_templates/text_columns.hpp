#pragma once
#include <bochner/train/tasks/config_templates/table_inference.hpp>

namespace bochner {

/// Columns of a table of labelled texts, by index.
struct TextColumns {
  std::size_t text, label;
};
/// Returns such columns. A column is named like texts ("review"), or has three words or more on
/// average and mostly different texts; the other is named like a label ("sentiment"), or has the
/// fewest values. Without any such name a table with times or measurements is none of texts.
std::optional<TextColumns> text_columns(const InferredTable& table);

}  // namespace bochner
