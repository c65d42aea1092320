"""Weights lambda_i(x) > 0 of the features of any map. Feature f has weight f mod n."""
import math

import torch
from torch.nn.functional import gelu

from .features import FeatureMap, Features, project, scaled
from .parts import form


class WeightedMap(FeatureMap):
    def __init__(self, at, map):
        super().__init__(at)
        self.map, self.positive, self.signs = map, map.positive, map.signs

    def log_weights(self, x):
        """ln lambda, (H, n) or (B, T, H, n)"""

    def forward(self, x, query):
        features = self.map(x, query)
        base, logs = features.base, self.log_weights(x)
        logs = torch.cat([logs] * (base.shape[-1] // logs.shape[-1]), -1)
        return Features(base + logs if features.logarithmic else base * logs.exp(), features.logarithmic, features.c)


@form("weights", "learned")
class LearnedWeights(WeightedMap):
    """ln lambda = V gelu(U y + a) + b of each head: hidden is U (H, hidden, d), output is V (H, n, hidden)."""

    learned = ("hidden", "hidden_bias", "output", "output_bias")

    def __init__(self, at, map):
        super().__init__(at, map)
        self.positive = map.positive and not map.signs

    def log_weights(self, x):
        return project(gelu(project(scaled(x), self.hidden) + self.hidden_bias), self.output) + self.output_bias


@form("weights", "fixed")
class FixedWeights(WeightedMap):
    """Constants, those of least box discrepancy."""

    fixed = ("log_weight",)

    def log_weights(self, x):
        return self.log_weight


@form("weights", "importance")
class ImportanceWeights(WeightedMap):
    """lambda_i^2 = p(w_i) / q(w_i): the frequencies are draws of the proposal q."""

    def log_weights(self, x):
        frequencies = self.map.frequencies
        w = frequencies.proposal.draws()
        return (frequencies.density.log_density(w) - frequencies.proposal.log_density(w)) / 2


@form("weights", "normalized")
class NormalizedWeights(FeatureMap):
    """1 / mean of a token's features."""

    def __init__(self, at, map):
        super().__init__(at)
        self.map = map

    def forward(self, x, query):
        features = self.map(x, query)
        values = features.all()
        root = math.sqrt(values.shape[-1])
        if features.logarithmic:
            return Features(values.log_softmax(-1) + math.log(root), True)
        return Features(root * values / (values.sum(-1, keepdim=True) + 1e-15))
