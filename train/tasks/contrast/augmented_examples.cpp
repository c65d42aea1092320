#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/tasks/contrast/contrast_format.hpp>
#include <bochner/train/tasks/init_from_data.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/series/series_data.hpp>

namespace bochner {
namespace {

ViewsSpec views_spec(const Config& config) { return read_spec<ViewsSpec>(config, "data.views"); }

class AugmentedImages : public AugmentedExamples {
 public:
  AugmentedImages(const Config& config, const KnownFacts& known)
      : spec_(views_spec(config)),
        data_(config, known),
        facts_(encode_facts(image_facts(config, data_, known))) {}
  const Dataset& data() const override { return *data_.sequences; }
  std::string facts() const override { return facts_; }

  std::vector<RawExample> read(const ContrastModel&, const Examples& examples) const override {
    return raw_images(data_.sequences->batch(examples));
  }
  RawExample view(const RawExample& example, Draws draws) const override {
    return {image_view(example.values, data_.sequences->image(), spec_, draws), {}, example.label};
  }

 private:
  ViewsSpec spec_;
  LabelData data_;
  std::string facts_;
};

class AugmentedSequences : public AugmentedExamples {
 public:
  AugmentedSequences(const Config& config, const KnownFacts& known)
      : spec_(views_spec(config)),
        data_(config, known),
        facts_(encode_facts(label_facts(config, data_, known))) {}
  const Dataset& data() const override { return *data_.sequences; }
  std::string facts() const override { return facts_; }
  void fit(ContrastModel& model, std::uint64_t seed) const override {
    fit_times(model, *model.time_scale(), model.spec().encoder.trunk.time,
              data_.sequences->batch(scale_examples(data())).times, seed);
  }

  std::vector<RawExample> read(const ContrastModel&, const Examples& examples) const override {
    return raw_sequences(data_.sequences->batch(examples));
  }
  RawExample view(const RawExample& example, Draws draws) const override {
    return {{}, event_view(example.events, spec_, draws), example.label};
  }

 private:
  ViewsSpec spec_;
  LabelData data_;
  std::string facts_;
};

SeriesSpec windows_spec(const Config& config) {
  SeriesSpec spec = series_spec(config);
  spec.horizon = 1;  // the row after a window decides its split
  return spec;
}

class AugmentedWindows : public AugmentedExamples {
 public:
  AugmentedWindows(const Config& config, const KnownFacts& known)
      : AugmentedWindows(config, read_series(config, known), known) {}
  const Dataset& data() const override { return windows_; }
  std::string facts() const override { return facts_; }
  void fit(ContrastModel& model, std::uint64_t) const override {
    const SeriesMoments moments = windows_.moments();
    model.standardize()->set(moments.mean, moments.deviation);
  }

  std::vector<RawExample> read(const ContrastModel& model,
                               const Examples& examples) const override {
    return raw_windows(windows_.batch(examples), model);
  }
  RawExample view(const RawExample& example, Draws draws) const override {
    const std::size_t variates = windows_.series().variates();
    return {series_view(example.values, variates, spec_, draws), {}, example.label};
  }

 private:
  AugmentedWindows(const Config& config, SeriesTable table, const KnownFacts& known)
      : spec_(views_spec(config)),
        windows_(std::move(table.series), windows_spec(config)),
        facts_(encode_facts(series_facts(config, table, windows_, known))) {}

  ViewsSpec spec_;
  SeriesWindows windows_;
  std::string facts_;
};

}  // namespace

std::vector<RawExample> AugmentedExamples::views(const ContrastModel& model,
                                                 const Examples& examples, ViewPass pass) const {
  const std::vector<RawExample> raw = read(model, examples);
  const std::size_t B = raw.size();
  std::vector<RawExample> both(2 * B);
  parallel_tasks(2 * B, [&](std::size_t i) {
    ViewPass own = pass;
    own.view = i / B;
    both[i] = view(raw[i % B], view_draws(own, examples.index(i % B)));
  });
  return both;
}

std::unique_ptr<AugmentedExamples> make_augmented_examples(const Config& config,
                                                           const KnownFacts& known) {
  const std::string& kind = config.text("data.kind");
  if (kind == "series") return std::make_unique<AugmentedWindows>(config, known);
  if (kind == "event_files") return std::make_unique<AugmentedSequences>(config, known);
  return std::make_unique<AugmentedImages>(config, known);
}

}  // namespace bochner
