#pragma once
/// Report pages: one self-contained HTML file, light or dark by the reader's setting.

#include <bochner/train/charts/chart.hpp>

namespace bochner {

/// Smallest scale of a chart, at which its text of 11.5 px has 10.
inline constexpr double smallest_scale = 0.872;
/// Returns the width of a card that shows a chart of so many pixels without a scroll bar.
constexpr int card_width(double chart) { return int(smallest_scale * chart) + 37; }

struct Figure {
  std::string value, label;
};

/// Table; every row has one cell per header. Numbers are right-aligned.
struct Table {
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> rows;
};
/// Writes Markdown for a terminal, with control characters escaped.
std::string markdown(const Table& table);

/// Page under construction. Texts are escaped; charts are SVG of draw().
class Page {
 public:
  Page(std::string title, std::string subtitle);
  void section(const std::string& heading, const std::string& text = "");
  void paragraph(const std::string& text);
  void figures(const std::vector<Figure>& figures);
  void table(const Table& table);
  /// Adds charts side by side in cards of at least `width` pixels, or as wide as the page.
  void charts(const std::vector<std::string>& svgs, int width = card_width(chart_width));
  /// Makes the browser reload the page after so many seconds.
  void refresh_every(double seconds) { refresh_ = seconds; }
  /// Returns the whole file, valid as XML and HTML.
  std::string html() const;

 private:
  std::string title_, subtitle_, body_;
  double refresh_ = 0;
};

}  // namespace bochner
