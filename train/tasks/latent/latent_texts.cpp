#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/latent/latent_data.hpp>

namespace bochner {
namespace {

constexpr std::size_t shown_texts = 6, byte_values = 256;

/// Only whole windows.
class WholeWindows : public ByteWindows {
 public:
  using ByteWindows::ByteWindows;
  Examples rest(Split split) const override { return {split, {}}; }
};

/// Windows of the bytes of texts.
class LatentTexts : public LatentData {
 public:
  explicit LatentTexts(const Config& config)
      : windows_(ByteCorpus(
                     expand_files(config.text_list("data.files"), std::filesystem::current_path())),
                 config.count("data.length"), config.number("data.validation"),
                 config.count("train.seed")) {}

  const Dataset& data() const override { return windows_; }

  void complete(VaeSpec& spec) const override {
    spec.observed = "symbols";
    spec.tokens = windows_.tokens_per_example();
    spec.vocabulary = byte_values;
  }

  Observed batch(const Examples& examples, const VariationalAutoencoder&) const override {
    return {{}, windows_.batch(examples).inputs};
  }

  Observed read_texts(const std::vector<std::string>& texts) const override {
    const std::size_t T = windows_.tokens_per_example();
    Observed x{{}, {{texts.size(), T}, {}}};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].size() < T)
        throw DataError("text ", i + 1, " has ", texts[i].size(), " bytes; the model sees ", T);
      for (std::size_t t = 0; t < T; ++t)
        x.symbols.values.push_back(static_cast<unsigned char>(texts[i][t]));
    }
    return x;
  }

  NamedArray expected(const Tensor& decoded, const VariationalAutoencoder&) const override {
    const std::size_t T = windows_.tokens_per_example(), V = byte_values,
                      B = decoded.size() / (T * V);
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
    Table table{{"text", "what is expected", "a sample of the prior"}, {}};
    for (std::size_t i = 0; i < std::min(shown_texts, seen.values.shape()[0]); ++i)
      table.rows.push_back({excerpt(seen.texts.at(0)[i]), excerpt(expected.texts.at(0)[i]),
                            excerpt(samples.texts.at(0)[i])});
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

  WholeWindows windows_;
};

}  // namespace

std::unique_ptr<LatentData> latent_texts(const Config& config) {
  return std::make_unique<LatentTexts>(config);
}

}  // namespace bochner
