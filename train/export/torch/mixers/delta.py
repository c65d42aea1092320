"""The gated delta rule over features."""
import torch

from .linear import FeatureMixer, from_the_end
from .parts import Linear, form, rms_norm


@form("update", "delta")
class DeltaMixer(FeatureMixer):
    """With u(x) = phi(x) / |phi(x)|, from S = 0 and token by token: S <- exp(-rate) S, then
    S <- S + strength u(k) (v - S^T u(k))^T, y = S^T u(q), strength = sigmoid(x W + b), twice that with
    delta.negative. Each head's y is normed by its root mean square. If not causal, the sum of both directions is."""

    def __init__(self, at, stack):
        super().__init__(at, stack)
        self.strength = Linear(at / "strength")

    def forward(self, x, layout):
        q, k, v = super().forward(x, layout)
        f, g = (unit(each) for each in self.turned_features(q, k, x, layout))
        strength = torch.sigmoid(self.strength(x)) * (2 if self.config["model.mixer.delta.negative"] else 1)

        def decay(layout):
            rate = self.time_kernel.rate(x, layout)
            if rate is None:
                return torch.ones_like(f)
            rate = rate if self.time_kernel.per_channel else rate[..., None]
            return torch.exp(-rate).expand(f.shape)

        y = written(f, g, v, strength, decay(layout))
        if not self.causal:
            turn = layout.reversed
            y = y + turn(written(*(turn(each) for each in (f, g, v, strength, decay(from_the_end(layout))))))
        return self.join(rms_norm(y))


def unit(features):
    values = features.all()
    if features.logarithmic:
        values = (values - values.amax(-1, keepdim=True)).exp()
    length = values.norm(dim=-1, keepdim=True)
    return torch.where(length < 4e-18, 0, values / torch.where(length == 0, 1, length))


def written(q, k, v, strength, decay):
    """q, k, decay (B, T, H, F), v (B, T, H, d), strength (B, T, H) -> (B, T, H, d)"""
    S, outputs = torch.zeros_like(k[:, 0, ..., None] * v[:, 0, ..., None, :]), []
    for t in range(q.shape[1]):
        S = decay[:, t, ..., None] * S
        recalled = (S * k[:, t, ..., None]).sum(-2)
        change = strength[:, t, :, None] * (v[:, t] - recalled)
        S = S + k[:, t, ..., None] * change[..., None, :]
        outputs.append((S * q[:, t, ..., None]).sum(-2))
    return torch.stack(outputs, 1)
