"""Gates of queries and keys, and hybrids of positive estimators by them."""
import torch

from .features import FeatureMap, Features, exponents, project, scaled
from .frequencies import Frequencies
from .parts import Part, form


class Gates(Part):
    """ln p(y) of queries and ln p'(y) of keys: log-softmax of R affine forms. (B, T, H, R)"""

    learned = ("query_gates", "query_gate_bias", "key_gates", "key_gate_bias")

    def forward(self, y, query):
        weight, bias = (self.query_gates, self.query_gate_bias) if query else (self.key_gates, self.key_gate_bias)
        return (project(y, weight) + bias).log_softmax(-1)


def mixed_gates(log_gates, mixing, query):
    """ln of M_k^T p for queries and of p' for keys, M_k the softmax over k of mixing (H, K, R, R): the product, summed
    over the last axis, is lambda_k = p^T M_k p'. (B, T, H, R) -> (B, T, H, K, R)"""
    if not query:
        return log_gates[..., None, :].expand(*log_gates.shape[:-1], mixing.shape[1], -1)
    return torch.einsum("bthr,hkrs->bthks", log_gates.exp(), mixing.softmax(1)).log()


class GatedHybrid(FeatureMap):
    """sum_k lambda_k(x, y) SM_k(x, y), SM_k the positive estimator of Psi_k x and y / Psi_k, Psi = exp(log_psi), all by
    the same frequencies."""

    learned = ("log_psi", "mixing")

    def __init__(self, at):
        super().__init__(at)
        self.gates, self.frequencies = Gates(at), Frequencies(at)

    def forward(self, x, query):
        w = self.frequencies()
        log_psi = self.log_psi if query else -self.log_psi
        bases = [exponents(x * log_psi[:, k].exp(), w, 0.5) for k in range(log_psi.shape[1])]
        return Features(torch.cat(bases, -1), True, self.log_coefficients(self.gates(scaled(x), query), query))


@form("features", "hybrid_learned")
class LearnedHybrid(GatedHybrid):
    """lambda_k = p^T M_k p'"""

    def log_coefficients(self, log_gates, query):
        return mixed_gates(log_gates, self.mixing, query)


@form("features", "hybrid_cluster")
class ClusterHybrid(GatedHybrid):
    """lambda_ab = p_a(x) p'_b(y), one base for each pair"""

    def log_coefficients(self, log_gates, query):
        R = log_gates.shape[-1]
        each = log_gates[..., :, None] if query else log_gates[..., None, :]
        return each.expand(*log_gates.shape[:-1], R, R).flatten(-2)[..., None]
