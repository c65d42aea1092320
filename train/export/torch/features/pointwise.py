"""Simple functions of x whose inner product is the kernel itself."""
import math

import torch
from torch.nn.functional import relu

from .features import FeatureMap, Features, project, scaled
from .parts import form, layer_norm


def packed_square(x):
    """x_i^2 / sqrt(2) and x_i x_j, i < j, row by row: an inner product (x . x')^2 / 2"""
    i, j = torch.triu_indices(x.shape[-1], x.shape[-1], device=x.device)
    return x[..., i] * x[..., j] * torch.where(i == j, 1 / math.sqrt(2), 1).to(x)


@form("features", "identity")
class IdentityFeatures(FeatureMap):
    positive = False

    def forward(self, x, query):
        return Features(x)


@form("features", "relu")
class ReluFeatures(FeatureMap):
    def forward(self, x, query):
        return Features(relu(x) + 1e-3)


@form("features", "squared_relu")
class SquaredReluFeatures(FeatureMap):
    def forward(self, x, query):
        return Features(relu(x).square())


class ProjectedFeatures(FeatureMap):
    """A function of u = W x, W (m, d) per head."""

    learned = ("weight", "bias")

    def forward(self, x, query):
        return Features(self.of(project(x, self.weight)))


@form("features", "elu")
class EluFeatures(ProjectedFeatures):
    """elu(u) + 1"""

    def of(self, u):
        return relu(u) + u.clamp(max=0).exp()


@form("features", "t2r")
class T2RFeatures(ProjectedFeatures):
    """relu(u + b)"""

    def of(self, u):
        return relu(u + self.bias)


@form("features", "hedgehog")
class HedgehogFeatures(ProjectedFeatures):
    """[softmax(u), softmax(-u)]"""

    def of(self, u):
        return torch.cat([u.softmax(-1), (-u).softmax(-1)], -1)


@form("features", "taylor")
class TaylorFeatures(FeatureMap):
    """[1, y, y_i y_j]: 1 + s + s^2 / 2, s = q . k / sqrt(d)"""

    signs = True

    def forward(self, x, query):
        y = scaled(x)
        return Features(torch.cat([torch.ones_like(y[..., :1]), y, packed_square(y)], -1))


@form("features", "rebased")
class RebasedFeatures(FeatureMap):
    """(u_q . u_k)^2 / 2 of u = (gain norm(x) + bias) / d^(1/4), norm a layer norm over the d channels of a head"""

    learned = ("gain", "bias")
    signs = True

    def forward(self, x, query):
        return Features(packed_square(scaled(layer_norm(x) * self.gain + self.bias)))


@form("features", "dpfp")
class DpfpFeatures(FeatureMap):
    """r times its copies rolled by 1 .. n, r = [relu(x), relu(-x)]"""

    def forward(self, x, query):
        r = torch.cat([relu(x), relu(-x)], -1)
        rolls = self.config["model.mixer.features.rolls"]
        return Features(torch.cat([r * r.roll(n, -1) for n in range(1, rolls + 1)], -1))


@form("features", "cosformer")
class CosformerFeatures(FeatureMap):
    """relu(x) [cos(a t), sin(a t)] at position t, a = pi / (2 M), for at most M tokens"""

    def forward(self, x, query):
        M = self.config["model.mixer.features.length"] or self.sizes["length"]
        angle = math.pi / 2 / M * torch.arange(x.shape[1], dtype=torch.float64, device=x.device)[:, None, None]
        return Features(torch.cat([relu(x) * angle.cos().to(x), relu(x) * angle.sin().to(x)], -1))
