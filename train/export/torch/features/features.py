"""Features of queries and keys, and common parts of feature maps. y = x / d^(1/4) throughout."""
import math

import torch

from .parts import Part


class Features:
    """phi(x), (B, T, H, F), or logarithms of it: `base` (B, T, H, G m) in G groups, times coefficients c
    (B, T, H, G, S): phi_(g, s, j) = c_gs base_gj."""

    def __init__(self, base, logarithmic=False, c=None):
        self.base, self.logarithmic, self.c = base, logarithmic, c

    def all(self):
        if self.c is None:
            return self.base
        groups = self.base.unflatten(-1, (self.c.shape[-2], -1))
        c, groups = self.c[..., :, None], groups[..., None, :]
        return (c + groups if self.logarithmic else c * groups).flatten(-3)

    def times(self, factors):
        """Returns all products with factors (B, T, H, n) >= 0; the features unchanged without factors."""
        if factors is None:
            return self
        factors = factors.log() if self.logarithmic else factors
        return Features(self.all(), self.logarithmic, factors[..., None, :])

    def with_constant(self, constant):
        values = self.all()
        return Features(torch.cat([values, torch.full_like(values[..., :1], constant)], -1))


class FeatureMap(Part):
    """x (B, T, H, d) -> Features. `positive`: phi(q) . phi(k) >= 0, though single features may be negative."""

    positive = True
    signs = False


def scaled(x):
    return x * x.shape[-1] ** -0.25


def project(x, w):
    """(B, T, H, d), (H, m, d) -> (B, T, H, m)"""
    return torch.einsum("bthd,hmd->bthm", x, w)


def exponents(x, w, c, offset=None):
    """w_i . y - c |y|^2 + offset_i - ln(m) / 2: logarithms of features whose inner product is a mean over m."""
    y = scaled(x)
    logs = project(y, w) - c * y.square().sum(-1, keepdim=True) - math.log(w.shape[1]) / 2
    return logs if offset is None else logs + offset


def fourier(y, w):
    """[cos(w_i . y), sin(w_i . y)] / sqrt(m)"""
    angles = project(y, w)
    return torch.cat([angles.cos(), angles.sin()], -1) / math.sqrt(w.shape[1])


class Tempered(FeatureMap):
    """A map of x exp(log_temperature)."""

    learned = ("log_temperature",)

    def __init__(self, at, map):
        super().__init__(at)
        self.map, self.positive, self.signs = map, map.positive, map.signs

    def forward(self, x, query):
        return self.map(x * self.log_temperature.exp(), query)


def tempered(at, map):
    return Tempered(at, map) if at.config["model.mixer.features.temperature"] else map
