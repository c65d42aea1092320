"""Estimators by random frequencies w of a density: E phi(x) . phi(x') is the kernel for w ~ N(0, I)."""
import math

import torch

from .features import FeatureMap, Features, exponents, fourier, scaled
from .frequencies import Frequencies
from .parts import form
from .weights_of_features import FixedWeights, LearnedWeights


class RandomFeatures(FeatureMap):
    def __init__(self, at):
        super().__init__(at)
        self.frequencies = Frequencies(at)


@form("features", "positive")
class PositiveFeatures(RandomFeatures):
    """exp(w_i . y - |y|^2 / 2) / sqrt(m): exp(x . x' / sqrt(d))"""

    def forward(self, x, query):
        return Features(exponents(x, self.frequencies(), 0.5), True)


@form("features", "hyperbolic")
class HyperbolicFeatures(RandomFeatures):
    """Positive features for w and -w."""

    def forward(self, x, query):
        w = self.frequencies()
        return Features(exponents(x, torch.cat([w, -w], 1), 0.5), True)


@form("features", "trigonometric")
class TrigonometricFeatures(RandomFeatures):
    """exp(|y|^2 / 2) [cos(w_i . y), sin(w_i . y)] / sqrt(m): the same kernel"""

    positive = False

    def forward(self, x, query):
        return Features(trigonometric(x, self.frequencies()))


LARGEST = math.log(torch.finfo(torch.float32).max) / 2 - 8  # sums of products of two stay finite


def trigonometric(x, w):
    y = scaled(x)
    return fourier(y, w) * (y.square().sum(-1, keepdim=True) / 2).clamp(max=LARGEST).exp()


@form("features", "pff")
class PffFeatures(RandomFeatures):
    """exp(w_i . y - |y|^2) / sqrt(m): exp(-|y - y'|^2 / 2)"""

    def forward(self, x, query):
        return Features(exponents(x, self.frequencies(), 1), True)


@form("features", "wpff")
def weighted_pff(at):
    return LearnedWeights(at, PffFeatures(at))


@form("features", "wpff_fixed")
def pff_of_fixed_weights(at):
    return FixedWeights(at, PffFeatures(at))


@form("features", "fourier")
class FourierFeatures(RandomFeatures):
    """[cos(w_i . y), sin(w_i . y)] / sqrt(m): the kernel of y - y' whose spectrum is the density"""

    positive = False

    def forward(self, x, query):
        return Features(fourier(scaled(x), self.frequencies()))


@form("features", "nonstationary")
class NonstationaryFeatures(RandomFeatures):
    """[cos(w_i . y) + cos(v_i . y), sin(w_i . y) + sin(v_i . y)] / (2 sqrt(m)), v = cos(a) w + sin(a) u, u of a
    separate density ("partner") and a learned angle a of each head"""

    positive = False
    learned = ("angle",)

    def __init__(self, at):
        super().__init__(at)
        self.partner = Frequencies(at / "partner")

    def forward(self, x, query):
        y, w = scaled(x), self.frequencies()
        v = self.angle.cos() * w + self.angle.sin() * self.partner()
        return Features((fourier(y, w) + fourier(y, v)) / 2)
