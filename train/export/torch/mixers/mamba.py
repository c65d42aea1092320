"""Selective state spaces: decays and inputs that depend on the token."""
import torch
from torch.nn.functional import silu, softplus

from .linear import gated_sums
from .parts import Linear, Part, RMSNorm, ShortConvolution, form, scan


@form("mixer", "mamba")
class MambaMixer(Part):
    """h_t = exp(-a dt) h_(t-1) + dt b x of N states per channel, y = (c . h + skip x) silu(gate), a = exp(log_rate),
    dt = softplus(..); x = silu of a short convolution, and dt, b and c are linear maps of x. Not causal, the sum of
    both directions of c . h."""

    learned = ("step_size", "step_bias", "skip")

    def __init__(self, at, stack):
        super().__init__(at)
        self.causal, self.spectrum = stack.causal, Rates(at / "spectrum")
        self.input, self.selection = Linear(at / "input"), Linear(at / "selection")
        self.convolution, self.output = ShortConvolution(at / "convolution"), Linear(at / "output")

    def forward(self, x, layout):
        gate, x = self.input(x).chunk(2, -1)
        x = silu(self.convolution(x))
        N = len(self.spectrum.log_rate)
        step, b, c = self.selection(x).split([len(self.step_size), N, N], -1)
        step = softplus(step @ self.step_size + self.step_bias)
        decay = torch.exp(-step[..., None] * self.spectrum.log_rate.T.exp()).flatten(2)
        written = ((step * x)[..., None] * b[:, :, None]).flatten(2)

        def read(states):
            return (states.unflatten(2, (-1, N)) * c[:, :, None]).sum(-1)

        y = read(scan(decay, written))
        if not self.causal:
            y = y + read(layout.reversed(scan(layout.reversed(decay), layout.reversed(written))))
        return self.output((y + self.skip * x) * silu(gate))


class Rates(Part):
    learned = ("log_rate",)


@form("mixer", "mamba2")
class Mamba2Mixer(Part):
    """S_t = exp(-a dt) S_(t-1) + b (dt x)^T, y = S^T c + skip x in each head, a = exp(log_rate), dt = softplus(..);
    x, b and c = silu of a short convolution; the RMS norm of y silu(gate) and a linear map. Not causal, the sum of
    both directions of S^T c."""

    learned = ("step_size", "step_bias", "log_rate", "skip")

    def __init__(self, at, stack):
        super().__init__(at)
        self.causal, self.heads = stack.causal, at.config["model.mixer.heads"]
        self.input, self.convolution = Linear(at / "input"), ShortConvolution(at / "convolution")
        self.norm, self.output = RMSNorm(at / "norm"), Linear(at / "output")

    def forward(self, u, layout):
        inner = len(self.norm.gain)
        gate, mixed = self.input(u).tensor_split([inner], -1)
        mixed = silu(self.convolution(mixed))
        N = (mixed.shape[-1] - inner) // 2
        x, b, c = mixed.split([inner, N, N], -1)
        step = softplus(u @ self.step_size + self.step_bias)[..., None]
        x = x.unflatten(-1, (self.heads, -1))
        b, c = (each[:, :, None].expand(*x.shape[:3], N) for each in (b, c))
        all = (c, b, step * x, (-step[..., 0] * self.log_rate.exp())[..., None].expand(b.shape))
        y = gated_sums(*all)
        if not self.causal:
            y = y + layout.reversed(gated_sums(*(layout.reversed(each) for each in all)))
        y = (y + self.skip[:, None] * x).flatten(2)
        return self.output(self.norm(y * silu(gate)))
