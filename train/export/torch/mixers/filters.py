"""Kernels of long convolutions, as functions of the lag."""
import math

import torch
from torch import nn

from .parts import Linear, Part, convolve, form, make
from .steps import held_gain, steps


class Filter(Part):
    """(lags, channels) of lags 0, 1, ..; `copies` filters of each of the D channels are concatenated. Without a
    limit (None) it has as many lags as requested."""

    limit = None

    def __init__(self, at, copies=1, length=None):
        super().__init__(at)
        self.copies = copies
        self.length = length or at.config["model.mixer.filter.length"]

    def key(self, name):
        return self.config["model.mixer.filter." + name]

    def lags(self):
        return self.length or self.sizes["length"] or 1024


@form("filter", "implicit")
class ImplicitFilter(Filter):
    """MLP(features of the lag) (exp(-rate t) + shift), t = lag / (L - 1); activations sin(frequency x). Features are t,
    then cos(f w) and -sin(f w) of w = 2 pi lag / L with frequencies f from 1e-4 to m - 1 for m of them; rates from
    ln 100 / slow of the first channel to ln 100 / fast of the last."""

    learned = ("positions", "frequency", "output")

    def __init__(self, at, copies=1, length=None):
        super().__init__(at, copies, length)
        self.layers = nn.ModuleList(Linear(at / "layers" / str(i)) for i in range(at.count("layers")))
        self.limit = self.lags()

    def forward(self, count):
        L, D = self.limit, self.output.shape[1] // self.copies
        lag = torch.arange(count, dtype=torch.float64, device=self.output.device)
        t = lag / max(L - 1, 1)
        x = self.positions[:count] if self.positions is not None else self.features(lag, t).to(self.output)
        for layer in self.layers:
            x = torch.sin(self.frequency * layer(x))
        slow, fast = (math.log(100) / self.key(name) for name in ("slow", "fast"))
        part = torch.arange(D, dtype=torch.float64, device=lag.device) / max(D - 1, 1)
        window = torch.exp(-t[:, None] * (slow + part * (fast - slow))) + self.key("shift")
        return x @ self.output * window.to(x).repeat(1, self.copies)

    def features(self, lag, t):
        bands = (self.key("features") - 1) // 2
        f = 1e-4 + torch.arange(bands).to(lag) / max(bands - 1, 1) * (bands - 1 - 1e-4)
        phases = 2 * math.pi / self.limit * lag[:, None] * f
        return torch.cat([t[:, None], phases.cos(), -phases.sin()], 1)


@form("filter", "explicit")
class ExplicitFilter(Filter):
    """Numbers one by one, averaged over `smooth` lags on either side, each shrunk by at most `squash` towards
    0.""" 

    learned = ("kernel",)

    def __init__(self, at, copies=1, length=None, plain=False):
        super().__init__(at, copies, length)
        self.limit = len(self.kernel)
        self.smooth, self.squash = (0, 0) if plain else (self.key("smooth"), self.key("squash"))

    def forward(self, count):
        kernel = self.kernel
        if self.smooth:
            n = 2 * self.smooth + 1
            kernel = convolve(kernel[None], torch.full_like(kernel[:1], 1 / n).expand(n, -1), self.smooth)[0]
        return (kernel - kernel.clamp(-self.squash, self.squash))[:count]


@form("filter", "dyadic")
class DyadicFilter(Filter):
    """Pieces of p, p, 2p, 4p, .. lags of p numbers each, linear between them, times 2^-piece in units of the last; over
    the norm at the start. The last piece ends where the kernel does."""

    learned, fixed = ("weight",), ("norm",)

    def __init__(self, at, copies=1, length=None):
        super().__init__(at, copies, length)
        self.limit = self.lags()

    def forward(self, count):
        p = self.key("piece")
        pieces = len(self.weight) // p
        rows = []
        for lag in range(count):
            piece = (lag // p).bit_length()
            spacing = 2 ** max(piece - 1, 0)
            first = p * spacing if piece else 0
            place = max(0.0, (lag - first + 0.5) / spacing - 0.5)
            left = int(place)
            right, share = min(left + 1, p - 1), place - left
            near, far = self.weight[piece * p + left], self.weight[piece * p + right]
            rows.append(2.0 ** (pieces - 1 - piece) * ((1 - share) * near + share * far))
        return torch.stack(rows) / self.norm


def exponential_kernels(rate, frequency, weight, count):
    """Re sum_n weight_n exp(-rate_n lag + i frequency_n lag): (C, N) each -> (count, C)"""
    lag = torch.arange(count, dtype=torch.float64, device=rate.device)[:, None, None]
    size, phase = torch.exp(-rate.double() * lag), frequency.double() * lag
    waves = size * (weight.real.double() * phase.cos() - weight.imag.double() * phase.sin())
    return waves.sum(-1).to(rate)


@form("filter", "exponential")
class ExponentialFilter(Filter):
    """2 Re sum_n C_n (e^z_n - 1) / A_n e^(lag z_n), z = e^log_step A, A = -e^log_decay + i frequency: S4D as a
    kernel"""

    learned = ("log_step", "log_decay", "frequency", "output_re", "output_im")

    def __init__(self, at, copies=1, length=None):
        super().__init__(at, copies, length)
        self.limit = self.length or None

    def forward(self, count):
        z, step = steps(self.log_decay, self.frequency, self.log_step)
        weight = 2 * torch.complex(self.output_re, self.output_im) * held_gain(z, step)
        return exponential_kernels(-z.real, z.imag, weight, count)


@form("filter", "spectral")
class SpectralFilter(Filter):
    """amplitude exp(-lag e^log_rate) mean over w of cos(w lag), w draws of a density of each channel in units of
    pi / tau, tau from shortest to longest over the channels"""

    learned = ("log_rate", "amplitude")

    def __init__(self, at, copies=1, length=None):
        super().__init__(at, copies, length)
        self.density = make(
            "density", at.config["model.mixer.filter.density.kind"], at / "density", "model.mixer.filter.density"
        )
        self.limit = self.length or None

    def forward(self, count):
        C = len(self.amplitude)
        D = C // self.copies
        part = torch.arange(D, dtype=torch.float64).repeat(self.copies) / max(D - 1, 1)
        short, long = self.key("shortest"), self.key("longest")
        unit = math.pi / (short * (long / short) ** part)
        w = self.density.draws()[..., 0]
        w = w * unit.to(w)[:, None]
        weight = torch.complex(self.amplitude / w.shape[1], torch.zeros_like(self.amplitude)).expand(w.shape)
        return exponential_kernels(self.log_rate.exp().expand(w.shape), w, weight, count)


class TwoSidedFilter(Part):
    """A kernel of the past, one of the future if it is not causal, and `skip` for the token itself."""

    learned = ("skip",)

    def __init__(self, at, made):
        super().__init__(at)
        self.past = made(at / "past")
        self.future = made(at / "future") if at.has("future") else None

    def kernel(self, T):
        """Returns the kernel, the farthest future first, and the number of its rows of the future."""
        past = self.past(min(T, self.past.limit or T))
        past = torch.cat([past[:1] + self.skip, past[1:]])
        count = min(T - 1, self.future.limit or T - 1) if self.future else 0
        if count == 0:
            return past, 0
        future = self.future(count).flip(0)  # its last row, of lag 0, is that of the next token
        return torch.cat([future, past]), count


def filter_of(at, kind, copies=1):
    """Returns the filter of the config, `kind` for "auto"."""
    chosen = at.config["model.mixer.filter.kind"]
    chosen = kind if chosen == "auto" else chosen
    return TwoSidedFilter(at, lambda place: make("filter", chosen, place, copies))
