"""Hybrids of the hyperbolic and the trigonometric estimator by a similarity of query and key."""
import math

import torch

from .features import FeatureMap, Features, exponents, scaled
from .frequencies import Frequencies
from .parts import form
from .random_features import trigonometric
from .similarity import AngularSimilarity, GaussianSimilarity


@form("features", "hybrid_angular", "hybrid_gaussian")
class HybridFeatures(FeatureMap):
    """lambda SM_1 + (1 - lambda) SM_2, lambda = c + xi(q) . xi(k): products of (xi, sqrt(c)) with phi_1 and of
    (xi, sqrt(1 - c)) with phi_2, the second xi negated for queries. hybrid_gaussian: lambda is the similarity, SM_1
    the trigonometric estimator, SM_2 the hyperbolic one; hybrid_angular: lambda is 1 less the similarity, SM_1 the
    hyperbolic one."""

    positive = False

    def __init__(self, at):
        super().__init__(at)
        self.frequencies = Frequencies(at)
        self.angular = not at.has("log_tau")
        self.similarity = AngularSimilarity(at) if self.angular else GaussianSimilarity(at)

    def forward(self, x, query):
        w = self.frequencies()
        hyperbolic = exponents(x, torch.cat([w, -w], 1), 0.5).exp()
        pair = [trigonometric(x, w), hyperbolic]
        c = self.similarity.constant
        if self.angular:
            pair, c = pair[::-1], 1 - c
        xi = self.similarity(scaled(x))
        first = -xi if query and self.angular else xi
        second = -xi if query and not self.angular else xi

        def with_one_more(xi, constant):
            return torch.cat([xi, torch.full_like(xi[..., :1], math.sqrt(constant))], -1)

        groups = torch.stack([with_one_more(first, c), with_one_more(second, 1 - c)], -2)
        return Features(torch.cat(pair, -1), False, groups)
