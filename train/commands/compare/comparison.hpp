#pragma once
/// Tables, JSON lines and a page that compare runs, for `compare` and `watch`.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/commands/compare/groups.hpp>

namespace bochner {

class Comparison {
 public:
  /// Measures the time to reach the validation loss `goal`, by default the lowest that all reach,
  /// unless data or model kind differ. `runs` must outlive it and must not be refreshed.
  explicit Comparison(const std::deque<RunView>& runs, std::optional<double> goal = {});

  /// Returns two Markdown tables: figures, and keys that differ.
  std::string text() const;
  /// Returns a JSON line per group.
  std::string json() const;
  /// Returns a page with curves, figures and keys that differ.
  Page page(const std::string& title) const;
  /// Returns problems of the runs or of comparing them, a line each.
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
