#pragma once
#include <bochner/train/tasks/latent/latent_format.hpp>
#include <bochner/train/tasks/learner.hpp>

namespace bochner {

/// Reconstructs examples from their latent variables, and samples from the prior.
class VaeLearner : public Learner,
                   public AnswersTables,
                   public AnswersTexts,
                   public HasLatent,
                   public HasSpecimens {
 public:
  VaeLearner(const Config& config, std::unique_ptr<LatentFormat> format);

  Module& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override { return format_->facts(); }
  Json sizes() const override;
  LearnerAbilities abilities() override;

  ReadOptions read_options() const override { return format_->read_options(); }
  std::vector<std::string> input_columns() const override { return format_->columns(); }
  /// Returns the expected example given the latent mean of each example.
  NamedArray predict(const NamedArray& question) override;
  NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t batch) override;

  NamedArray sample(std::size_t count, std::uint64_t seed) override;
  NamedArray latent(const NamedArray& examples) override;
  NamedArray latent_of_texts(const std::vector<std::string>& texts) override;

  std::size_t specimens() const override { return format_->specimens(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  VariationalAutoencoder& autoencoder() { return model_; }
  const LatentFormat& format() const { return *format_; }
  /// Returns the output of the decoder at the latent mean of each example. (B, T, n)
  Tensor decoded(const Observed& x);
  NamedArray expected(const Observed& x) { return format_->expected(decoded(x), model_); }

 private:
  NamedArray latent_of(const Observed& x);

  std::unique_ptr<LatentFormat> format_;
  VariationalAutoencoder model_;
};

}  // namespace bochner
