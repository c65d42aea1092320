"""Spectral densities: frequencies as functions of saved noise, (H, m, d) normal numbers, and of learned parameters."""
import math

import torch

from .parts import Part, form


class Posterior(Part):
    """Posterior of a density's parameters; predictions by the parameters themselves do not use it."""

    fixed = ("factor", "centre")


class Density(Part):
    """`keys` is the prefix of its keys in the config."""

    fixed = ("noise",)

    def __init__(self, at, keys):
        super().__init__(at)
        self.keys = keys
        self.posterior = Posterior(at / "posterior") if at.has("posterior") else None

    def key(self, name, default):
        return self.config.get(f"{self.keys}.{name}", default)


class LocationScale(Density):
    """w = mean + exp(log_scale) s, s = standard(z): mean and log_scale (H, 1, d)"""

    learned = ("mean", "log_scale")

    def draws(self):
        return self.mean + self.log_scale.exp() * self.standard(self.noise)

    def log_density(self, w):
        s = (w - self.mean) * (-self.log_scale).exp()
        return self.standard_log_density(s) - self.log_scale.sum(-1)

    @property
    def d(self):
        return self.mean.shape[-1]


def log_normal(x):
    """ln of the density of N(0, I)"""
    return -(x.square().sum(-1) + x.shape[-1] * math.log(2 * math.pi)) / 2


@form("density", "gaussian")
class GaussianDensity(LocationScale):
    """s = z"""

    def standard(self, z):
        return z

    def standard_log_density(self, s):
        return log_normal(s)


@form("density", "gaussian_full")
class FullGaussianDensity(Density):
    """w = mean + L z, L the lower triangle of factor (H, d, d), its diagonal exponentiated"""

    learned = ("mean", "factor")

    def root(self):
        diagonal = self.factor.diagonal(dim1=-2, dim2=-1)
        return self.factor.tril(-1) + torch.diag_embed(diagonal.exp())

    def draws(self):
        return self.mean + self.noise @ self.root().mT

    def log_density(self, w):
        z = torch.linalg.solve_triangular(self.root(), (w - self.mean).mT, upper=False).mT
        return log_normal(z) - self.factor.diagonal(dim1=-2, dim2=-1).sum(-1)[:, None]
