#include <fmt/format.h>

#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <charconv>
#include <optional>

namespace bochner {
namespace {

/// Checks the frequencies of a space, and that its channels fit frequencies on its axes.
void check_frequencies(const Config& config, std::int64_t dimensions) {
  const std::string &frequencies = config.text("model.encoding.frequencies"),
                    &start = config.text("model.encoding.start");
  const bool series = frequencies == "geometric" || frequencies == "linear";
  if (start != "gaussian" && (series || frequencies == "random"))
    fail_over(config, "model.encoding.start", "needs learned frequencies, not",
              "model.encoding.frequencies");
  if (!series && frequencies != "axes" && start == "gaussian") return;
  if (config.text("model.encoding.kind") == "multiplicative")
    fail(config, start != "gaussian" ? "model.encoding.start" : "model.encoding.frequencies",
         "must be learned or random, and start from Gaussian ones, with " +
             assignment(config, "model.encoding.kind"));
  if (config.integer("model.encoding.space") % dimensions == 0) return;
  fail(config, "model.encoding.space",
       dimensions == 2
           ? "must be even for frequencies on both axes"
           : fmt::format("must be a multiple of {} for frequencies on all axes", dimensions),
       "model.encoding.frequencies");
}

/// Returns the byte of two hexadecimal digits, or nothing.
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
  const std::int64_t encoded =
      2 * (config.integer("model.encoding.space") + config.integer("model.encoding.time"));
  const std::string with = fmt::format(" with {}", assignment(config, "model.encoding.kind"));
  if (kind == "additive" && width % 4 != 0)
    fail(config, "model.width", "must be a multiple of 4" + with, "model.encoding.kind");
  if (kind == "multiplicative" && width % 2 != 0)
    fail(config, "model.width", "must be even" + with, "model.encoding.kind");
  if (kind == "concatenated" && width <= encoded)
    fail(config, "model.width",
         fmt::format("must be greater than {}, the channels of the encoding,{}", encoded, with),
         "model.encoding.kind");
  if (kind == "concatenated" && config.flag("model.encoding.every_block"))
    fail(config, "model.encoding.every_block",
         "must be false with " + assignment(config, "model.encoding.kind"));
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
      fail(config, "data.separator", "allows only the escapes \\n, \\t, \\r, \\\\ and \\xHH");
    }
  }
  if (bytes.empty()) fail(config, "data.separator", "must hold at least one byte");
  return bytes;
}

void check_positions(const Config& config) {
  if (config.text("model.positions") != "encoding") return;
  const std::string &model = config.text("model.kind"), &data = config.text("data.kind");
  const bool text = model == "lm" && data != "event_files" && data != "hawkes";
  if (!text && data != "images" && data != "shapes" && data != "pathfinder")
    fail_over(config, "model.positions", "needs tokens of a text or of an image, not", "data.kind");
  if (config.text("model.encoding.kind") == "none")
    fail_over(config, "model.encoding.kind", "must not be \"none\" with", "model.positions");
  separator_bytes(config);
  check_encoding(config, text ? 1 : 2);
}

}  // namespace bochner
