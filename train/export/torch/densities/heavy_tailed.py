"""Student's t, Cauchy's and Laplace's distribution; the last number of the noise, a normal score, chooses the scale."""
import math

import torch

from .gaussian import LocationScale
from .parts import form
from .special import log_bessel_k, log_gamma_quantile


@form("density", "student_t", "cauchy")
class StudentTDensity(LocationScale):
    """s = z / sqrt(g), g ~ chi^2_n / n by its quantile, n = 1/2 + exp(log_degrees); n = 1 for Cauchy's"""

    learned = ("mean", "log_scale", "log_degrees")

    def degrees(self):
        return torch.ones(1, 1, 1).to(self.mean) if self.log_degrees is None else 0.5 + self.log_degrees.exp()

    def standard(self, noise):
        half = self.degrees() / 2
        log_g = log_gamma_quantile(half, noise[..., self.d :]).to(noise)
        return noise[..., : self.d] * ((half.log() - log_g) / 2).exp()

    def standard_log_density(self, s):
        n, d = self.degrees()[..., 0], self.d
        square = s.square().sum(-1)
        constant = torch.lgamma((n + d) / 2) - torch.lgamma(n / 2) - d / 2 * (n * math.pi).log()
        return constant - (n + d) / 2 * (square / n).log1p()


@form("density", "laplace")
class LaplaceDensity(LocationScale):
    """s = z sqrt(e), e ~ Exp(1) by its quantile"""

    def standard(self, noise):
        one = torch.ones(()).to(noise)
        return noise[..., : self.d] * (log_gamma_quantile(one, noise[..., self.d :]) / 2).exp().to(noise)

    def standard_log_density(self, s):
        order, square = 1 - self.d / 2, s.square().sum(-1)
        constant = math.log(2) - self.d / 2 * math.log(2 * math.pi)
        return constant + order / 2 * (square / 2).log() + log_bessel_k(abs(order), (2 * square).sqrt())
