"""A hybrid of any estimators."""
import math

import torch
from torch import nn

from .features import FeatureMap, Features, scaled
from .gates import Gates, mixed_gates
from .parts import Part, form, make
from .similarity import AngularSimilarity, GaussianSimilarity


class GateCoefficients(Part):
    """Factors of lambda_k = p^T M_k p', logarithms. (B, T, H, d) -> (B, T, H, K, R)"""

    learned = ("mixing",)
    logarithmic = True

    def __init__(self, at):
        super().__init__(at)
        self.gates = Gates(at)

    def forward(self, y, query):
        return mixed_gates(self.gates(y, query), self.mixing, query)


class SimilarityCoefficients(Part):
    """Factors of lambda_k = v_k + (u_k - v_k) s(x, y), u and v the softmaxes of alike and other."""

    learned = ("alike", "other")
    logarithmic = False

    def __init__(self, at):
        super().__init__(at)
        self.similarity = GaussianSimilarity(at) if at.has("log_tau") else AngularSimilarity(at)

    def forward(self, y, query):
        f, K = self.similarity(y), self.alike.shape[1]
        if not query:
            return torch.cat([f, torch.ones_like(f[..., :1])], -1)[..., None, :].expand(-1, -1, -1, K, -1)
        v = self.other.softmax(-1)
        slope = self.alike.softmax(-1) - v
        rest = (v + self.similarity.constant * slope)[..., None].expand(*f.shape[:2], -1, -1, -1)
        return torch.cat([f[..., None, :] * slope[..., None], rest], -1)


@form("features", "hybrid")
class MixedHybrid(FeatureMap):
    """sum_k lambda_k(x, y) phi_k(x) . phi_k(y), each estimator k with frequencies of its own: all products of the
    factors of lambda_k with phi_k."""

    def __init__(self, at):
        super().__init__(at)
        kinds = at.config["model.mixer.features.estimators"]
        self.estimators = nn.ModuleList(
            make("features", kind, at / "estimators" / str(k)) for k, kind in enumerate(kinds)
        )
        gated = at.config["model.mixer.features.lambdas"] in ("learned", "clusters")
        self.coefficients = (GateCoefficients if gated else SimilarityCoefficients)(at / "lambda")
        self.positive = gated and all(each.positive for each in self.estimators)
        self.signs = any(each.signs for each in self.estimators)

    def forward(self, x, query):
        each = [estimator(x, query) for estimator in self.estimators]
        factors = self.coefficients(scaled(x), query)
        logarithmic = self.coefficients.logarithmic and all(one.logarithmic for one in each)
        if self.coefficients.logarithmic and not logarithmic:
            factors = factors.exp()
        values = [one.all().exp() if one.logarithmic and not logarithmic else one.all() for one in each]
        group = math.gcd(*(one.shape[-1] for one in values))
        repeats = torch.tensor([one.shape[-1] // group for one in values], device=x.device)
        return Features(torch.cat(values, -1), logarithmic, factors.repeat_interleave(repeats, 3))
