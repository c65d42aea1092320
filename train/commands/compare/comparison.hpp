#pragma once
/// What `compare` and `watch` show of runs side by side: tables, JSON lines and a page.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/commands/compare/groups.hpp>

namespace bochner {

class Comparison {
 public:
  /// `goal` is a loss of validation to which the time is measured; by default the lowest one that
  /// all reach, unless they learn different things. `runs` must outlive it, and not be read anew.
  explicit Comparison(const std::deque<RunView>& runs, std::optional<double> goal = {});

  /// Two tables in Markdown: figures, and keys that differ.
  std::string text() const;
  /// A line for each group.
  std::string json() const;
  /// Curves, figures and keys that differ.
  Page page(const std::string& title) const;
  /// What is wrong with the runs, or with comparing them: a line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Table figure_table() const;
  Table difference_table() const;
  std::vector<Figure> large_figures() const;
  std::vector<std::string> charts() const;
  std::string chart_of(const std::string& key, bool by_time) const;

  std::size_t run_count_;
  std::optional<double> goal_;
  std::vector<RunGroup> groups_;
  std::vector<Difference> differences_;
  std::vector<RunFigure> figures_;
  std::vector<std::string> notes_;
};

}  // namespace bochner
