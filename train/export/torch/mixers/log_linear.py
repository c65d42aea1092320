"""Linear attention with weights by age. Guo et al., "Log-linear attention", 2025."""
import torch
from torch.nn.functional import softplus

from .delta import unit
from .linear import FeatureMixer, from_the_end
from .parts import Linear, form, rms_norm
from .softmax import seen
from .time_kernel import lost


@form("mixer", "log_linear")
class LogLinearMixer(FeatureMixer):
    """y_i = sum over j <= i of weight_il u(q_i) . u(k_j) exp(-decay) v_j, u = phi / |phi|, where l is 0 for j = i, else
    1 + the highest bit in which i and j differ, and at most the last level; weights = softplus(level_weights(x)). Each
    head's y is normed by its root mean square. Not causal, the sum of both directions is."""

    def __init__(self, at, stack):
        super().__init__(at, stack)
        self.level_weights = Linear(at / "level_weights")

    def forward(self, x, layout):
        q, k, v = super().forward(x, layout)
        weights = softplus(self.level_weights(x)).unflatten(-1, (q.shape[2], -1))
        f, g = (unit(each) for each in self.turned_features(q, k, x, layout))
        y = by_age(f, g, v, weights, self.time_kernel.rate(x, layout))
        if not self.causal:
            turn, rate = layout.reversed, self.time_kernel.rate(x, from_the_end(layout))
            rate = turn(rate) if rate is not None and rate.dim() > 1 else rate
            y = y + turn(by_age(*(turn(each) for each in (f, g, v, weights)), rate))
        return self.join(rms_norm(y))


def by_age(q, k, v, weights, rate):
    """q, k (B, T, H, F), v (B, T, H, d), weights (B, T, H, L), rate (H), (B, T, H) or None -> (B, T, H, d)"""
    T, last = q.shape[1], weights.shape[-1] - 1
    level = torch.tensor([[min((i ^ j).bit_length(), last) for j in range(T)] for i in range(T)], device=q.device)
    w = torch.einsum("bihf,bjhf->bhij", q, k)
    w = w * weights.transpose(1, 2).gather(3, level.expand(*w.shape))
    if rate is not None:
        w = w * torch.exp(-lost(rate, T, None))
    return torch.einsum("bhij,bjhd->bihd", w.tril(), v)
