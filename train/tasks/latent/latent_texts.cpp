#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/latent/latent_format.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/text_facts.hpp>

namespace bochner {
namespace {

constexpr std::size_t shown_texts = 6, byte_values = 256;

/// Windows of full length only.
class WholeWindows : public ByteWindows {
 public:
  using ByteWindows::ByteWindows;
  Examples rest(Split split) const override { return {split, {}}; }
};

/// Windows of the bytes of texts.
class LatentTextFormat : public LatentFormat {
 public:
  explicit LatentTextFormat(TextFacts facts) : facts_(std::move(facts)) {
    for (const Batch& one : facts_.specimens) check_specimen(one.inputs);
  }

  std::string facts() const override { return encode_facts(facts_); }
  bool reads_texts() const override { return true; }

  void complete(VaeSpec& spec) const override {
    spec.observed = "symbols";
    spec.tokens = facts_.length;
    spec.vocabulary = byte_values;
  }

  std::size_t specimens() const override { return facts_.specimens.size(); }
  Observed specimen(std::size_t i, const VariationalAutoencoder&) const override {
    return {{}, facts_.specimens[i].inputs};
  }

  Observed read_texts(const std::vector<std::string>& texts) const override {
    const std::size_t T = std::size_t(facts_.length);
    Observed x{{}, {{texts.size(), T}, {}}};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].size() < T)
        throw DataError("text ", i + 1, " has ", texts[i].size(), " bytes; the model needs ", T);
      for (std::size_t t = 0; t < T; ++t)
        x.symbols.values.push_back(static_cast<unsigned char>(texts[i][t]));
    }
    return x;
  }

  NamedArray expected(const Tensor& decoded, const VariationalAutoencoder&) const override {
    const std::size_t T = std::size_t(facts_.length), V = byte_values, B = decoded.size() / (T * V);
    std::vector<std::string> texts(B);
    for (std::size_t i = 0; i < B * T; ++i) {
      const real* logits = decoded.data() + i * V;
      texts[i / T] += char(std::max_element(logits, logits + V) - logits);
    }
    return column_of(std::move(texts));
  }
  NamedArray as_array(const Observed& x, const VariationalAutoencoder&) const override {
    std::vector<std::string> texts(x.size());
    const std::size_t T = x.symbols.shape[1];
    for (std::size_t i = 0; i < x.symbols.values.size(); ++i)
      texts[i / T] += char(x.symbols.values[i]);
    return column_of(std::move(texts));
  }

  void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
            const NamedArray& samples) const override {
    Table table{{"text", "reconstruction", "sample of the prior"}, {}};
    for (std::size_t i = 0; i < std::min(shown_texts, seen.values.shape()[0]); ++i)
      table.rows.push_back({excerpt(seen.texts.at(0)[i]), excerpt(expected.texts.at(0)[i]),
                            excerpt(samples.texts.at(0)[i])});
    page.table(table);
  }

  void draw_categories(Page& page, const NamedArray& expected,
                       const std::vector<std::string>& names) const override {
    Table table{{"category", "most probable text"}, {}};
    for (std::size_t i = 0; i < names.size(); ++i)
      table.rows.push_back({names[i], excerpt(expected.texts.at(0)[i])});
    page.table(table);
  }

 private:
  static NamedArray column_of(std::vector<std::string> texts) {
    NamedArray array;
    array.values.resize({texts.size(), std::size_t(1)});
    for (std::size_t i = 0; i < texts.size(); ++i) array.values(i, 0) = double(i);
    array.columns = {"text"};
    array.texts[0] = std::move(texts);
    return array;
  }

  void check_specimen(const Indices& bytes) const {
    const auto is_byte = [](std::int32_t value) { return value >= 0 && value < int(byte_values); };
    if (bytes.shape != Shape{1, facts_.length} || !std::ranges::all_of(bytes.values, is_byte))
      throw DataError("facts hold a text that is not one of ", facts_.length, " bytes");
  }

  TextFacts facts_;
};

class LatentTexts : public LatentData {
 public:
  LatentTexts(const Config& config, const KnownFacts& known)
      : windows_(ByteCorpus(data_files(config)), config.count("data.length"),
                 config.number("data.validation"), config.count("train.seed")),
        facts_(facts_of(windows_, known)) {}

  const Dataset& data() const override { return windows_; }
  std::string facts() const override { return facts_; }
  Observed batch(const Examples& examples, const VariationalAutoencoder&) const override {
    return {{}, windows_.batch(examples).inputs};
  }

 private:
  static std::string facts_of(const WholeWindows& windows, const KnownFacts& known) {
    const std::size_t T = windows.tokens_per_example();
    if (!known.bytes.empty() && !known.extends) {
      if (const auto length = known.of<TextFacts>().length; length != T)
        throw DataError("data.length: the model was trained on ", length, " bytes, not on ", T);
      return known.bytes;
    }
    return encode_facts(TextFacts{.length = T, .specimens = take_specimens(windows, T)});
  }

  WholeWindows windows_;
  std::string facts_;
};

}  // namespace

std::unique_ptr<LatentData> latent_texts(const Config& config, const KnownFacts& known) {
  return std::make_unique<LatentTexts>(config, known);
}

std::unique_ptr<LatentFormat> latent_text_format(const Config& config, const KnownFacts& facts) {
  TextFacts known = facts.of<TextFacts>();
  if (facts.bytes.empty()) known.length = config.count("data.length");
  return std::make_unique<LatentTextFormat>(std::move(known));
}

}  // namespace bochner
