#pragma once
/// The built-in encodings of time.

#include <bochner/layers/encodings/time_encoding.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// m^(-1/2) [cos w t, sin w t] with m draws w of a learned spectral density, "gaussian" (w = mean +
/// scale z), "flow" (w = F^-1(u), a monotone spline) and the others of densities.hpp. K is a
/// function of the lag whatever is learned. Xu et al., "Self-attention with functional time
/// representation learning", 2019.
class BochnerTime : public TimeEncoding {
 public:
  explicit BochnerTime(const TimeEncodingSpec& spec);
  std::size_t features() const override { return 2 * m_; }
  Var forward(Tape& tape, const Times& times) override;
  std::function<double(double)> kernel() override;
  bool rotates() const override { return true; }
  void visit(Visitor& visitor) override;

 private:
  std::size_t m_;
  std::unique_ptr<SpectralDensity> density_;
};

/// The same with frequencies that are parameters themselves, as logarithms; sine and cosine share
/// theirs, so that K stays a function of the lag. They start geometrically spaced.
class FreeTime : public TimeEncoding {
 public:
  explicit FreeTime(const TimeEncodingSpec& spec);
  std::size_t features() const override { return 2 * log_frequency_.value().size(); }
  Var forward(Tape& tape, const Times& times) override;
  std::function<double(double)> kernel() override;
  bool rotates() const override { return true; }
  void visit(Visitor& visitor) override { visitor("log_frequency", log_frequency_); }

 protected:
  Parameter log_frequency_;  // (m)
};

/// The same without learning: Vaswani et al., 2017, at real times.
class SinusoidalTime : public FreeTime {
 public:
  using FreeTime::FreeTime;
  Var forward(Tape& tape, const Times& times) override;
  void visit(Visitor&) override {}
};

/// Of each base frequency w a truncated Fourier basis [c_0^(1/2), c_2j^(1/2) cos j w t,
/// c_(2j+1)^(1/2) sin j w t], j = 1 .. J, with learned positive coefficients; all of them one after
/// the other, so that K is the sum of the periodic kernels. It is a function of the lag exactly
/// where c_2j = c_(2j+1), which `paired` makes so. Xu et al., 2019.
class MercerTime : public TimeEncoding {
 public:
  explicit MercerTime(const TimeEncodingSpec& spec);
  std::size_t features() const override;
  Var forward(Tape& tape, const Times& times) override;
  std::function<double(double)> kernel() override;
  void visit(Visitor& visitor) override;

 private:
  std::size_t degree_;
  Parameter log_frequency_;    // (k)
  Parameter log_coefficient_;  // (k, 1 + J) if paired, else (k, 1 + 2J)
};

/// As in the published code, not the paper: one number for each base frequency, its truncated
/// Fourier series with learned signed coefficients, summed over the harmonics. K is not a function
/// of the lag.
class SummedMercerTime : public TimeEncoding {
 public:
  explicit SummedMercerTime(const TimeEncodingSpec& spec);
  std::size_t features() const override { return log_frequency_.value().size(); }
  Var forward(Tape& tape, const Times& times) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter log_frequency_;  // (k)
  Parameter coefficient_;    // (k, 1 + 2J)
};

}  // namespace bochner::inline BOCHNER_PRECISION
