"""Diagonal state spaces."""
import torch
from torch import nn
from torch.nn.functional import gelu, silu

from .linear import from_the_end
from .parts import Linear, Part, ShortConvolution, form, scan
from .steps import HIGHEST, LOWEST, held_gain, steps


class SteppedSpectrum(Part):
    """Eigenvalues -e^log_rate + i frequency in steps e^log_step, z their product: decay e^z and gain (e^z - 1) /
    eigenvalue of inputs that are held (zoh), or (1 + z/2) / (1 - z/2) and step / (1 - z/2) (bilinear)."""

    learned = ("log_rate", "frequencies", "log_step")

    def forward(self, gap=None):
        z, step = steps(self.log_rate, self.frequencies, self.log_step)
        if gap is not None:
            z, step = z * gap.clamp(1e-6, 1e6), step * gap.clamp(1e-6, 1e6)
        if self.config["model.mixer.ssm.discretisation"] == "bilinear":
            return (1 + z / 2) / (1 - z / 2) * (1 - 1e-6), step / (1 - z / 2)
        return z.exp(), held_gain(z, step)


class RingSpectrum(Part):
    """decay exp(-e^log_rate + i e^log_phase), gain e^log_gain"""

    learned = ("log_rate", "log_phase", "log_gain")

    def forward(self, gap=None):
        rate, phase = self.log_rate.clamp(LOWEST, HIGHEST).exp(), self.log_phase.clamp(-30, 10).exp()
        return torch.complex(-rate, phase).exp(), self.log_gain.exp()


class ContinuousStates(Part):
    """s4d, dss: y_t = c Re sum_n C_n gain_n h_n, h_n <- decay_n h_n + u of each channel, c = 2 (s4d) or 1; C complex,
    output (2, N, D), and reverse_output for the other direction."""

    learned = ("output", "reverse_output")

    def __init__(self, at):
        super().__init__(at)
        self.spectrum = SteppedSpectrum(at / "spectrum")
        self.factor = 2 if at.config["model.mixer.ssm.form"] == "s4d" else 1

    def forward(self, u, layout, backward):
        output = self.reverse_output if backward else self.output
        decay, gain = self.spectrum()
        return self.factor * states(u, decay, torch.complex(*output) * gain)


class DampedAverage(Part):
    """ema: y_t = sum_n p beta gamma / sqrt(N) h_n, h_n <- (1 - p sigmoid(alpha)) h_n + u, p = sigmoid(delta)"""

    learned = ("beta", "gamma")

    def __init__(self, at):
        super().__init__(at)
        self.spectrum = EmaSpectrum(at / "spectrum")

    def forward(self, u):
        p, alpha = (each.sigmoid() for each in (self.spectrum.delta, self.spectrum.alpha))
        decay = 1 - (p * alpha).clamp(1e-6, 1)
        return states(u, decay, p * self.beta * self.gamma / len(p) ** 0.5)


class EmaSpectrum(Part):
    learned = ("delta", "alpha")


class DampedAverages(Part):
    def __init__(self, at):
        super().__init__(at)
        self.directions = nn.ModuleList(
            DampedAverage(at / "directions" / str(i)) for i in range(at.count("directions"))
        )

    def forward(self, u, layout, backward):
        return self.directions[int(backward)](u)


def states(u, decay, weight):
    """Re sum_n weight_n h_n, h_n <- decay_n h_n + u. u (B, T, D), decay and weight (N, D) -> (B, T, D)"""
    h, outputs = torch.zeros(len(u), *decay.shape, dtype=decay.dtype, device=u.device), []
    for t in range(u.shape[1]):
        h = decay * h + u[:, t, None]
        outputs.append((weight * h).sum(1).real)
    return torch.stack(outputs, 1)


class SharedStates(Part):
    """s5, lru: h <- decay h + gain (u B), y = c Re(h C) of P complex states, c = 2 (s5) or 1. input (D, 2P) is
    [Re B | Im B], output (2P, D) is [Re C; -Im C]."""

    learned = ("input", "output", "reverse_output")

    def __init__(self, at):
        super().__init__(at)
        is_s5 = at.config["model.mixer.ssm.form"] == "s5"
        self.spectrum, self.factor = (SteppedSpectrum if is_s5 else RingSpectrum)(at / "spectrum"), 2 if is_s5 else 1

    def forward(self, u, layout, backward):
        output = self.reverse_output if backward else self.output
        gap = None
        if layout.gaps is not None:  # the first token's input is held for 1, as the last one's is backward
            first = torch.ones_like(layout.gaps[:, :1])
            gap = from_the_end(layout).gaps if backward else torch.cat([first, layout.gaps[:, 1:]], 1)
            gap = (layout.reversed(gap) if backward else gap).to(u)[..., None]
        decay, gain = self.spectrum(gap)
        h = scan(decay, gain * torch.complex(*(u @ self.input).chunk(2, -1)))
        return self.factor * torch.cat([h.real, h.imag], -1) @ output


class StateOutput(Part):
    """With x = gelu(y), of ema silu(y): value(x) sigmoid(gate(x)) (glu), y sigmoid(gate(x)) (half_glu), value(x)
    (linear), y (none)."""

    def __init__(self, at):
        super().__init__(at)
        self.value = Linear(at / "value") if at.has("value") else None
        self.gate = Linear(at / "gate") if at.has("gate") else None

    def forward(self, y):
        x = silu(y) if self.config["model.mixer.ssm.form"] == "ema" else gelu(y)
        value = self.value(x) if self.value else y
        return value * self.gate(x).sigmoid() if self.gate else value


@form("mixer", "ssm")
class SsmMixer(Part):
    """A state space of u, x after a short convolution, skip u and the output. If not causal, both directions are added,
    each with the token itself."""

    learned = ("skip",)

    def __init__(self, at, stack):
        super().__init__(at)
        kind = at.config["model.mixer.ssm.form"]
        self.causal, self.convolution = stack.causal, ShortConvolution(at / "convolution")
        made = DampedAverages if kind == "ema" else ContinuousStates if kind in ("s4d", "dss") else SharedStates
        self.system, self.output = made(at / "system"), StateOutput(at / "output")

    def forward(self, x, layout):
        u = self.convolution(x)
        y = self.system(u, layout, False)
        if not self.causal:
            y = y + layout.reversed(self.system(layout.reversed(u), layout, True))
        return self.output(y + self.skip * u)
