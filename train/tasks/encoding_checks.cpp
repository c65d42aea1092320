#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <charconv>
#include <iterator>
#include <optional>

namespace bochner {
namespace {

/// Frequencies of a space of so many dimensions, and what those on its axes demand.
void check_frequencies(const Config& config, std::int64_t dimensions) {
  const std::string &frequencies = config.text("model.encoding.frequencies"),
                    &start = config.text("model.encoding.start");
  const bool series = frequencies == "geometric" || frequencies == "linear";
  if (start != "gaussian" && (series || frequencies == "random"))
    fail(config, "model.encoding.start",
         "is that of learned frequencies, not of " +
             assignment(config, "model.encoding.frequencies"),
         "model.encoding.frequencies");
  if (!series && frequencies != "axes" && start == "gaussian") return;
  if (config.text("model.encoding.kind") == "multiplicative")
    fail(config, start != "gaussian" ? "model.encoding.start" : "model.encoding.frequencies",
         "must be learned or random, from Gaussian ones, with " +
             assignment(config, "model.encoding.kind"));
  if (config.integer("model.encoding.space") % dimensions == 0) return;
  fail(config, "model.encoding.space",
       dimensions == 2
           ? "must be even for frequencies on both axes"
           : fmt::format("must be a multiple of {} for frequencies on all axes", dimensions),
       "model.encoding.frequencies");
}

/// A key or a section, and whether anything heeds it.
struct Use {
  const char* section;
  bool used;
  std::string demand, choice = {};
};

std::vector<Use> uses_of_tables(const Config& config) {
  const std::string& process = config.text("model.gp.method");
  const bool drawn = process == "features" || config.text("model.gp.density.kind") == "free";
  const bool table = config.text("data.kind") == "table";
  return {{"model.gp", config.text("model.kind") == "gp", "needs model.kind = \"gp\""},
          {"model.gp.cg", process == "cg", "needs model.gp.method = \"cg\""},
          {"model.gp.m", drawn, "needs model.gp.method = \"features\" or a free density"},
          {"model.gp.draws", drawn, "needs model.gp.method = \"features\" or a free density"},
          {"model.gp.density.posterior", false,
           "is for other models: a process has no batches to draw it for; set "
           "model.gp.density.prior"},
          {"model.gp.noise_shape", process == "features", "needs model.gp.method = \"features\""},
          {"data.columns", !table, "is not for a table: name data.inputs and data.target"},
          {"data.inputs", table, "needs data.kind = \"table\""},
          {"data.target", table, "needs data.kind = \"table\""},
          {"data.held_out", table, "needs data.kind = \"table\""},
          {"data.rows", table, "needs data.kind = \"table\""}};
}

std::vector<Use> uses_of_times(const Config& config) {
  const std::string& kind = config.text("model.time.kind");
  const std::string key = "model.time.kind", needs = "needs " + key;
  return {{"model.time", kind != "none", needs + " other than \"none\"", key},
          {"model.time.degree", kind.starts_with("mercer"),
           needs_value(key, {"mercer", "mercer_summed"}), key},
          {"model.time.paired", kind == "mercer", needs_value(key, {"mercer"}), key}};
}

/// The byte that two hexadecimal digits name.
std::optional<char> byte_of(std::string_view digits) {
  unsigned code = 0;
  const char* end = digits.data() + digits.size();
  const auto [read, error] = std::from_chars(digits.data(), end, code, 16);
  if (digits.size() != 2 || error != std::errc() || read != end) return {};
  return char(code);
}

}  // namespace

void check_encoding(const Config& config, std::int64_t dimensions) {
  const std::string& kind = config.text("model.encoding.kind");
  const std::int64_t width = config.integer("model.width");
  const std::int64_t beside =
      2 * (config.integer("model.encoding.space") + config.integer("model.encoding.time"));
  const std::string with = fmt::format(" with {}", assignment(config, "model.encoding.kind"));
  if (kind == "additive" && width % 4 != 0)
    fail(config, "model.width", "must be a multiple of 4" + with, "model.encoding.kind");
  if (kind == "multiplicative" && width % 2 != 0)
    fail(config, "model.width", "must be even" + with, "model.encoding.kind");
  if (kind == "concatenated" && width <= beside)
    fail(config, "model.width",
         fmt::format("must be greater than {}, the channels of the encoding,{}", beside, with),
         "model.encoding.kind");
  if (kind == "concatenated" && config.flag("model.encoding.every_block"))
    fail(config, "model.encoding.every_block", "is not for an encoding beside the content");
  check_frequencies(config, dimensions);
}

std::string separator_bytes(const Config& config) {
  const std::string& text = config.text("data.separator");
  constexpr std::string_view letters = "ntr\\", meant = "\n\t\r\\";
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view escape = std::string_view(text).substr(i, 4);
    const std::size_t letter =
        escape[0] == '\\' && escape.size() > 1 ? letters.find(escape[1]) : letters.npos;
    const auto byte = escape.starts_with("\\x") ? byte_of(escape.substr(2)) : std::nullopt;
    if (escape[0] != '\\') {
      bytes += escape[0];
    } else if (letter != letters.npos) {
      bytes += meant[letter];
      i += 1;
    } else if (byte) {
      bytes += *byte;
      i += 3;
    } else {
      fail(config, "data.separator", "knows \\n, \\t, \\r, \\\\ and \\xHH only");
    }
  }
  if (bytes.empty()) fail(config, "data.separator", "must hold at least one byte");
  return bytes;
}

void check_positions(const Config& config) {
  if (config.text("model.positions") != "encoding") return;
  const std::string &model = config.text("model.kind"), &data = config.text("data.kind");
  const bool text = model == "lm" && data != "event_files" && data != "hawkes";
  if (!text && data != "images" && data != "shapes")
    fail(config, "model.positions",
         "is for the tokens of a text or of an image, not for " + assignment(config, "data.kind"),
         "data.kind");
  if (config.text("model.encoding.kind") == "none")
    fail(config, "model.encoding.kind", "says nothing to " + assignment(config, "model.positions"),
         "model.positions");
  separator_bytes(config);
  check_encoding(config, text ? 1 : 2);
}

std::vector<UnheededKey> unused_keys(const Config& config) {
  const std::string &model = config.text("model.kind"), &data = config.text("data.kind");
  const bool encoded = config.text("model.positions") == "encoding";
  const bool sensors = data == "sensors", field = model == "field" && !sensors;
  const bool events = data == "event_files" && model == "events";
  const bool placed = events && !config.text_list("data.place_columns").empty();
  const bool recall = data == "multi_query_recall";
  const bool sequences = std::ranges::count(token_task_kinds(), data) > 0;
  const std::string kernel = "model.mixer.time_kernel.";
  std::vector<Use> uses = {
      {"model.encoding", model == "field" || encoded || placed,
       "needs model.kind = \"field\", model.positions = \"encoding\", or events with places"},
      {"model.positions", model != "field" || config.text("model.positions") == "none",
       "is for tokens in an order, and those of a field have none: see model.encoding",
       "model.kind"},
      {"data.separator", data == "bytes" && encoded,
       "needs data.kind = \"bytes\" and model.positions = \"encoding\""},
      {"data.buckets", data == "listops" || (data == "event_files" && model == "classifier"),
       "needs a classifier of sequences that differ in length: data.kind = \"listops\" or "
       "\"event_files\""},
      {"data.validation_length", sequences,
       "needs generated sequences with questions: data.kind = " + alternatives(token_task_kinds())},
      {"data.gap_power", recall, "needs data.kind = \"multi_query_recall\""},
      {"data.filler", recall, "needs data.kind = \"multi_query_recall\""},
      {"data.test_examples", !reads_files(config), "needs generated data"},
      {"model.norm_momentum", config.text("model.norm") == "batch", "needs model.norm = \"batch\""},
      {"model.mixer.time_kernel.rank",
       config.text(kernel + "kind") == "gate" && config.text(kernel + "per") == "channel",
       "needs " + kernel + "kind = \"gate\" and " + kernel + "per = \"channel\""},
      {"data.dimensions", field, "needs a field on a grid"},
      {"data.planes", field, "needs a field on a grid"},
      {"data.place_columns", sensors || events,
       "needs data.kind = \"sensors\", or model.kind = \"events\" of files"},
      {"data.ask", sensors, "needs data.kind = \"sensors\""},
      {"data.asked", sensors, "needs data.kind = \"sensors\""}};
  std::ranges::move(uses_of_tables(config), std::back_inserter(uses));
  std::ranges::move(uses_of_times(config), std::back_inserter(uses));
  std::vector<UnheededSections> unused;
  for (const auto& [section, used, demand, choice] : uses)
    if (!used) unused.push_back({{section}, demand, choice});
  return changed_keys(config, unused);
}

}  // namespace bochner
