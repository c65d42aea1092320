"""Time mixing of RWKV-7. Peng et al., "RWKV-7 Goose", 2025."""
import math

import torch
from torch.nn.functional import normalize

from .parts import Linear, Part, form, layer_norm


class NarrowMap(Part):
    """f(x W + b) U + c"""

    learned = ("up", "bias")

    def __init__(self, at):
        super().__init__(at)
        self.down = Linear(at / "down")

    def forward(self, x, f=lambda y: y):
        return f(self.down(x)) @ self.up + self.bias


class TokenShift(Part):
    learned = ("shares",)


@form("mixer", "rwkv7")
class Rwkv7Mixer(Part):
    """S <- diag(w) S - (u o a) (S^T u)^T + k v^T and y = S^T r in each head, u = k erase_key of length 1, k times
    1 + (a - 1) write_rate, w = exp(-e^(-1/2) sigmoid(decay)), a = sigmoid(rate), all inputs of x + (x before - x)
    shift.shares; not causal, the sum of both directions. Then (norm(y) gain + bias + (r o k . bonus) v) gate, and a
    linear map."""

    learned = ("erase_key", "write_rate", "bonus", "gain", "bias")

    def __init__(self, at, stack):
        super().__init__(at)
        self.causal, self.heads = stack.causal, at.config["model.mixer.heads"]
        self.receptance, self.key, self.value = (Linear(at / name) for name in ("receptance", "key", "value"))
        self.decay, self.rate, self.gate = (NarrowMap(at / name) for name in ("decay", "rate", "gate"))
        self.shift, self.output = TokenShift(at / "shift"), Linear(at / "output")

    def by_head(self, x):
        return x.unflatten(-1, (self.heads, -1))

    def forward(self, x, layout):
        change = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1) - x
        mixed = [x + change * share for share in self.shift.shares]
        r, k, v = (f(y) for f, y in zip((self.receptance, self.key, self.value), mixed))
        w = torch.exp(-math.exp(-0.5) * self.decay(mixed[3], torch.tanh).sigmoid())
        a, gate = self.rate(mixed[4]).sigmoid(), self.gate(mixed[5], torch.sigmoid)
        u = normalize(self.by_head(k * self.erase_key), dim=-1)
        k = k * (1 + (a - 1) * self.write_rate)
        r, k, v, w, a = (self.by_head(each) for each in (r, k, v, w, a))
        y = written(r, k, v, w, u, a)
        if not self.causal:
            y = y + layout.reversed(written(*(layout.reversed(each) for each in (r, k, v, w, u, a))))
        y = layer_norm(y, 1e-5 * y.shape[-1]).flatten(2) * self.gain + self.bias
        own = (r * k * self.by_head(self.bonus)).sum(-1, keepdim=True) * v
        return self.output((y + own.flatten(2)) * gate)


def written(r, k, v, w, u, a):
    """The recurrence over (B, T, H, d) each, from S = 0."""
    S, outputs = torch.zeros_like(k[:, 0, ..., None] * v[:, 0, ..., None, :]), []
    for t in range(r.shape[1]):
        recalled = (S * u[:, t, ..., None]).sum(-2)
        S = w[:, t, ..., None] * S - (u * a)[:, t, ..., None] * recalled[..., None, :]
        S = S + k[:, t, ..., None] * v[:, t, ..., None, :]
        outputs.append((S * r[:, t, ..., None]).sum(-2))
    return torch.stack(outputs, 1)
