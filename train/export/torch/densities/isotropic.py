"""Isotropic densities: s = r z / |z|, a radius r that is a function of |z|."""
import math

import torch

from .gaussian import LocationScale
from .parts import form
from .special import log_gamma_quantile
from .spline import Spline


def log_sphere_area(d):
    return math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)


class IsotropicDensity(LocationScale):
    def standard(self, z):
        length = z.norm(dim=-1, keepdim=True)
        return z / length * self.radius(length)

    def standard_log_density(self, s):
        r = s.norm(dim=-1, keepdim=True)
        return (self.log_radius_density(r) - (self.d - 1) * r.log())[..., 0] - log_sphere_area(self.d)


@form("density", "gamma", "exponential")
class GammaDensity(IsotropicDensity):
    """r ~ Gamma(a) by its quantile at the probability of |z| under chi_d, times sqrt(d / (a (a + 1))), a =
    exp(log_shape); a = 1 for the exponential radius"""

    learned = ("mean", "log_scale", "log_shape")

    def shape(self):
        a = torch.ones(1, 1, 1).to(self.mean) if self.log_shape is None else self.log_shape.exp()
        return a, (math.log(self.d) - a.log() - (a + 1).log()) / 2

    def radius(self, length):
        a, log_unit = self.shape()
        half, square = torch.tensor(self.d / 2, dtype=torch.float64), length.double().square() / 2
        low = torch.special.gammainc(half, square)
        high = torch.special.gammaincc(half, square)
        z = torch.where(low < high, torch.special.ndtri(low), -torch.special.ndtri(high))
        return (log_gamma_quantile(a, z).to(length) + log_unit).exp()

    def log_radius_density(self, r):
        a, log_unit = self.shape()
        return (a - 1) * (r.log() - log_unit) - r * (-log_unit).exp() - torch.lgamma(a) - log_unit


@form("density", "radial")
class RadialDensity(IsotropicDensity):
    """r a spline of |z| on [0, sqrt(d) + 4]"""

    def __init__(self, at, keys):
        super().__init__(at, keys)
        self.warp = Spline(at / "radius", 0, math.sqrt(self.d) + 4)

    def radius(self, length):
        return self.warp(length)

    def log_radius_density(self, r):
        length, log_slope = self.warp.inverse(r)
        chi = (self.d - 1) * length.log() - length.square() / 2 - self.d / 2 * math.log(2 * math.pi)
        return chi + log_sphere_area(self.d) - log_slope
