"""Exact attention."""
import math

import torch

from .attention import Projections
from .parts import form
from .time_kernel import TimeKernel, lost


@form("mixer", "softmax")
class SoftmaxMixer(Projections):
    """softmax(q . k / sqrt(d) - decay between key and query) v, causal or not, of the last `window` tokens
    or of all. (B, T, D) -> (B, T, D)"""

    def __init__(self, at, stack):
        super().__init__(at)
        self.causal, self.window = stack.causal, at.config["model.mixer.window"]
        self.time_kernel = TimeKernel(at / "time_kernel")

    def forward(self, x, layout):
        q, k, v = super().forward(x, layout)
        logits = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(q.shape[-1])
        rate = self.time_kernel.rate(x, layout)
        if rate is not None:
            logits = logits - lost(rate, x.shape[1])
        logits = logits.masked_fill(~seen(x, layout, self.causal, self.window), -math.inf)
        return self.join(torch.einsum("bhij,bjhd->bihd", logits.softmax(-1), v))


def seen(x, layout, causal, window=0):
    """Returns the mask of keys j that query i sees: (B, 1, T, T)."""
    t = torch.arange(x.shape[1], device=x.device)
    lag = t[:, None] - t
    sees = torch.ones_like(lag, dtype=torch.bool)
    if causal:
        sees = lag >= 0
    if window:
        sees = sees & (lag < window)
    return sees & layout.exists(x)[:, None, None]
