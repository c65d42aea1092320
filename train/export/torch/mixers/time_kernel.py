"""The learned time factor of attention weights of each head."""
import math

import torch
from torch.nn.functional import softplus

from .parts import Part, make


class TimeKernel(Part):
    """decay: exp(-lag e^log_rate). gate: exp(-sum of softplus(x W + b) over the tokens between), W = gate or, per
    channel of the keys' features, gate_down gate. rotation and spectral: decay times
    1 + sum_k 2 (b^k c_k)^2 mean over nu of cos(k nu lag), b = sigmoid(logit), by features that rotate with time.

    The input of a gate is the normed input of the mixer, before any short convolution."""

    learned = ("log_rate", "log_frequency", "logit", "gate_down", "gate", "gate_bias")

    def __init__(self, at):
        super().__init__(at)
        config = at.config
        self.heads = config["model.mixer.heads"]
        self.kind = config["model.mixer.time_kernel.kind"] if at.has("log_rate") or at.has("gate") else "none"
        self.per_channel = config["model.mixer.time_kernel.per"] == "channel" and self.kind != "none"
        self.density, self.harmonics = None, 1
        if self.kind == "spectral":
            kind = config["model.mixer.time_kernel.density.kind"]
            self.density = make("density", kind, at / "density", "model.mixer.time_kernel.density")
            self.harmonics = config["model.mixer.time_kernel.harmonics"]

    def rate(self, x, layout):
        """Returns the decay per token: (H) or (B, T, H), with an axis (F) if per channel; None without."""
        if self.kind == "none":
            return None
        if self.kind == "gate":
            y = x if self.gate_down is None else x @ self.gate_down
            rate = softplus(y @ self.gate + self.gate_bias)
            rate = rate.unflatten(-1, (self.heads, -1)) if self.per_channel else rate
        else:
            rate = self.log_rate.exp()
        if layout.gaps is None:
            return rate
        return layout.gaps.to(x)[(...,) + (None,) * (2 if self.per_channel else 1)] * rate

    def frequencies(self):
        """(H, n), those of the density in units of pi / tau at the start"""
        if self.kind == "rotation":
            return self.log_frequency.exp()[:, None]
        config, H = self.config, self.heads
        part = torch.arange(H, dtype=torch.float64) / max(H - 1, 1)
        short, long = (math.log(config["model.mixer.time_kernel." + key]) for key in ("shortest", "longest"))
        unit = math.pi * torch.exp(-(1 - part) * short - part * long)
        draws = self.density.draws()[..., 0]
        return draws * unit.to(draws)[:, None]

    def turns(self, x, layout):
        """(1 + sum_k 2 b^k c_k cos(k (nu t + 2 pi p / P))) / sqrt(P n) of P = 2N + 1 phases p: features of that
        factor, (B, T, H, n P); None without frequencies."""
        if self.kind not in ("rotation", "spectral"):
            return None
        T, N = x.shape[1], self.harmonics
        steps = torch.arange(T, dtype=torch.float64, device=x.device)[None]
        times = steps if layout.gaps is None else layout.gaps.to(x).double().cumsum(1)
        frequency = self.frequencies()
        P = 2 * N + 1
        angles = 2 * math.pi * torch.arange(P, dtype=torch.float64, device=x.device) / P
        b = torch.sigmoid(self.logit)[:, None, None].double()
        total = 1
        for k, c in enumerate(harmonic_coefficients(N), 1):
            waves = torch.cos(k * (times[..., None, None, None] * frequency.double()[..., None] + angles))
            total = total + 2 * b**k * c * waves
        return (total.flatten(-2) / math.sqrt(P * frequency.shape[1])).to(x).expand(x.shape[0], -1, -1, -1)


def harmonic_coefficients(N):
    """c_1 .. c_N of 1 + sum_k 2 c_k cos(k x) >= 0 with the largest c_1 (Fejer): 1/2 for N = 1."""
    s = [math.sin((j + 1) * math.pi / (N + 2)) for j in range(N + 1)]
    c = [sum(s[j] * s[j + k] for j in range(N + 1 - k)) for k in range(N + 1)]
    return [each / c[0] for each in c[1:]]


def lost(rate, T, backward=None):
    """Returns the decay between key j and query i: rate_(j+1) + .. + rate_i for earlier keys; for later ones
    backward_i + .. + backward_(j-1), which differ if gaps do. rate (H) or (B, T, H) -> (B or 1, H, T, T)"""
    if rate.dim() == 1:
        t = torch.arange(T, device=rate.device)
        return (rate[:, None, None] * (t[:, None] - t).abs())[None]
    up_to = rate.transpose(1, 2).cumsum(-1)
    before = up_to[..., :, None] - up_to[..., None, :]
    if backward is None:
        return before.abs()
    from_first = backward.transpose(1, 2).cumsum(-1) - backward.transpose(1, 2)
    behind = from_first[..., None, :] - from_first[..., :, None]
    return torch.where(torch.ones(T, T, device=rate.device).tril().bool(), before, behind)
