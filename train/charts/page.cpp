#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/page.hpp>
#include <ranges>

namespace bochner {
namespace {

constexpr const char* style = R"(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#16181d;--soft:#626b79;--line:#e3e6eb;
--c0:#2563eb;--c1:#e0661b;--c2:#0f9d76;--c3:#9046cf;--c4:#d23669;--c5:#0e8fb3;--c6:#a17a0b;--c7:#7a828f}
@media(prefers-color-scheme:dark){:root{--page:#0f1115;--card:#181b21;--ink:#e9ebef;--soft:#9aa3b2;--line:#2b3039;
--c0:#6ea0ff;--c1:#ff9a5c;--c2:#45cfa4;--c3:#c08bf5;--c4:#ff7ba6;--c5:#54c6e6;--c6:#dcb54a;--c7:#a3abb8}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1180px;margin:0 auto;padding:40px 24px 64px}
h1{font-size:26px;line-height:1.25;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:18px;margin:44px 0 6px;letter-spacing:-.005em}
p{margin:0 0 14px;color:var(--soft);max-width:80ch}
.row{display:grid;gap:14px;margin:14px 0;grid-template-columns:repeat(auto-fill,minmax(min(100%,var(--wide)),1fr))}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:17px;min-width:0;overflow-x:auto}
.card svg{display:block;width:100%;height:auto;overflow:visible}
.figure b{display:block;font-size:24px;line-height:1.2;font-weight:650;letter-spacing:-.01em;font-variant-numeric:tabular-nums}
.figure span{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
.scroll{overflow-x:auto;padding:6px 18px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:8px 0 8px 22px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left;padding-left:0;white-space:normal;overflow-wrap:break-word;min-width:9ch}
tr:last-child td{border-bottom:0}
@media(max-width:480px){main{padding:24px 12px}th,td{padding-left:12px}}
th{font-weight:550;color:var(--soft);font-size:13px}
svg text{font-family:inherit;font-size:11.5px;fill:var(--soft);font-variant-numeric:tabular-nums}
svg .tick{paint-order:stroke;stroke:var(--card);stroke-width:3;stroke-linejoin:round}
svg .title{font-size:14px;font-weight:600;fill:var(--ink)}
svg .grid,svg .base{stroke:var(--line);fill:none;stroke-width:1}
svg .minor{opacity:.45}
svg .base{stroke:var(--soft);opacity:.55}
svg .curve{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
svg .dashed{stroke-dasharray:2 5}
svg .thin{stroke-width:1}
svg .faint{opacity:.32;stroke-width:1.2}
svg .dot,svg .bar{fill:var(--c)}
svg .band{fill:var(--c);opacity:.16}
svg .outline{fill:none;stroke:#fff;stroke-width:1.5}
svg .dark{stroke:#000;stroke-width:3.5}
svg .whisker{stroke:var(--ink);stroke-width:1.5}
)";

/// Escapes bars, which would end the cell.
std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell.append(c == '|' ? "\\" : "").push_back(c);
  return cell;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  const auto row = cells | std::views::transform(markdown_cell);
  return printable(fmt::format("| {} |", joined(row, " | "))) + "\n";
}

}  // namespace

std::string markdown(const Table& table) {
  std::string text = markdown_row(table.headers) +
                     markdown_row(std::vector<std::string>(table.headers.size(), "---"));
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

Page::Page(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Page::section(const std::string& heading, const std::string& text) {
  body_ += fmt::format("<h2>{}</h2>\n", escaped(heading));
  if (!text.empty()) paragraph(text);
}

void Page::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", escaped(text));
}

void Page::figures(const std::vector<Figure>& figures) {
  body_ += R"(<div class="row" style="--wide:150px">)";
  for (const Figure& figure : figures)
    body_ += fmt::format(R"(<div class="card figure"><b>{}</b><span>{}</span></div>)",
                         escaped(figure.value), escaped(figure.label));
  body_ += "</div>\n";
}

void Page::table(const Table& table) {
  body_ += R"(<div class="card scroll"><table><thead><tr>)";
  for (const std::string& header : table.headers)
    body_ += fmt::format("<th>{}</th>", escaped(header));
  body_ += "</tr></thead><tbody>";
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += fmt::format("<td>{}</td>", escaped(cell));
    body_ += "</tr>";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::charts(const std::vector<std::string>& svgs, int width) {
  body_ += fmt::format(R"(<div class="row" style="--wide:{}px">)", width);
  for (const std::string& svg : svgs) body_ += "<div class=\"card\">" + svg + "</div>\n";
  body_ += "</div>\n";
}

std::string Page::html() const {
  const std::string refresh =
      refresh_ > 0
          ? fmt::format(R"(<meta http-equiv="refresh" content="{:.0f}"/>)", std::max(1.0, refresh_))
          : "";
  std::string colours;
  for (int i = 0; i < palette_size; ++i)
    colours += fmt::format("svg .c{}{{--c:var(--c{})}}\n", i, i);
  return fmt::format(
      R"(<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width,initial-scale=1"/>{}<title>{}</title>
<style>{}{}</style></head><body><main><h1>{}</h1><p>{}</p>
{}</main></body></html>
)",
      refresh, escaped(title_), style, colours, escaped(title_), escaped(subtitle_), body_);
}

}  // namespace bochner
