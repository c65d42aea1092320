"""The gated delta rule over features."""
import torch
from torch import nn

from .linear import FeatureMixer, from_the_end
from .parts import Linear, Part, form, rms_norm


@form("update", "delta")
class DeltaMixer(FeatureMixer):
    """With u(x) = phi(x) / |phi(x)|, from S = 0 and token by token: S <- exp(-rate) S, then
    S <- S + strength u(k) (v - S^T u(k))^T, y = S^T u(q), strength = sigmoid(x W + b), twice that with
    delta.negative. Each head's y is normed by its root mean square. If not causal, the sum of both directions is. With
    delta.two_gates v is multiplied by sigmoid(write_gate(x)) / strength. A token may write several times, delta.steps,
    with keys and values of `steps`; it decays before the first."""

    def __init__(self, at, stack):
        super().__init__(at, stack)
        self.strength = Linear(at / "strength")
        self.write_gate = Linear(at / "write_gate") if at.has("write_gate") else None
        self.steps = nn.ModuleList(FurtherWrite(at / "steps" / str(i)) for i in range(at.count("steps")))

    def forward(self, x, layout):
        q, k, v = super().forward(x, layout)
        keys = [k] + [step.key(x).reshape(k.shape) for step in self.steps]
        v = torch.stack([v] + [step.value(x).reshape(v.shape) for step in self.steps], 2)
        strength = torch.sigmoid(self.strength(x)) * (2 if self.config["model.mixer.delta.negative"] else 1)
        strength = strength.reshape(v.shape[:-1])
        if self.write_gate:
            v = v * (torch.sigmoid(self.write_gate(x)).reshape(strength.shape) / strength)[..., None]
        turned = [[unit(each) for each in self.turned_features(q, k, x, layout)] for k in keys]
        f, g = turned[0][0], torch.stack([each for _, each in turned], 2)

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
    """q, decay (B, T, H, F), k (B, T, n, H, F), v (B, T, n, H, d), strength (B, T, n, H) -> (B, T, H, d)"""
    S, outputs = torch.zeros_like(k[:, 0, 0, ..., None] * v[:, 0, 0, ..., None, :]), []
    for t in range(q.shape[1]):
        S = decay[:, t, ..., None] * S
        for i in range(k.shape[2]):
            recalled = (S * k[:, t, i, ..., None]).sum(-2)
            change = strength[:, t, i, :, None] * (v[:, t, i] - recalled)
            S = S + k[:, t, i, ..., None] * change[..., None, :]
        outputs.append((S * q[:, t, ..., None]).sum(-2))
    return torch.stack(outputs, 1)


class FurtherWrite(Part):
    """Key and value of a further write of each token."""

    def __init__(self, at):
        super().__init__(at)
        self.key, self.value = Linear(at / "key"), Linear(at / "value")
