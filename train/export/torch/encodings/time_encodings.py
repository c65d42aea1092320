"""Encodings of continuous time Phi(t), whose inner products are kernels of time."""
import math

import torch

from .parts import Part, form, make
from .time import waves


def spaced_frequencies(config):
    """Returns m frequencies from the shortest to the longest period, geometric or in equal steps, the last one with
    the longest period or a step before."""
    m, short, long = (config["model.time." + key] for key in ("m", "shortest", "longest"))
    steps = max(m - 1, 1) if config["model.time.endpoint"] else m
    part = torch.arange(m, dtype=torch.float64) / steps
    if config["model.time.spacing"] == "linear":
        return 2 * math.pi * ((1 - part) / short + part / long)
    return 2 * math.pi * torch.exp(-(1 - part) * math.log(short) - part * math.log(long))


class TimeEncoding(Part):
    def __init__(self, at, dim=None):
        super().__init__(at)


class Waves(TimeEncoding):
    """m^(-1/2) [cos w_1 t .. cos w_m t, sin w_1 t .. sin w_m t]"""

    def forward(self, times):
        phases = waves(times, self.frequencies())
        return torch.cat([phases.cos(), phases.sin()], -1) / math.sqrt(phases.shape[-1])


@form("time", "density")
class BochnerTime(Waves):
    """Frequencies drawn from a learned density of one dimension."""

    def __init__(self, at, dim=None):
        super().__init__(at)
        self.density = make("density", at.config["model.time.kind"], at / "density", "model.time")

    def frequencies(self):
        return self.density.draws().flatten()


@form("time", "free")
class FreeTime(Waves):
    """Frequencies that are parameters."""

    learned = ("log_frequency",)

    def frequencies(self):
        return self.log_frequency.exp()


@form("time", "sinusoidal")
class SinusoidalTime(Waves):
    """Frequencies of the config; d / 2 of them if they rotate heads of d channels."""

    def __init__(self, at, dim=None):
        super().__init__(at)
        config = dict(at.config)
        if dim and config["model.time.use"] == "rotate":
            config["model.time.m"] = dim // 2
        self.register_buffer("w", spaced_frequencies(config).log().float().exp())

    def frequencies(self):
        return self.w


@form("time", "mercer")
class MercerTime(TimeEncoding):
    """[c_0^(1/2), c_j^(1/2) cos j w t, c'_j^(1/2) sin j w t], j = 1 .. J, of each base frequency w; c' = c if
    sines share the coefficients of cosines ("paired")."""

    learned = ("log_frequency", "log_coefficient")

    def forward(self, times):
        amplitude = (self.log_coefficient / 2).exp()
        if self.config["model.time.paired"]:
            amplitude = torch.cat([amplitude, amplitude[:, 1:]], 1)
        return (amplitude * harmonics(times, self.log_frequency.exp(), amplitude.shape[1] // 2)).flatten(-2)


@form("time", "mercer_summed")
class SummedMercerTime(TimeEncoding):
    """sum_j a_j cos j w t + a'_j sin j w t + a_0 for each base frequency w."""

    learned = ("log_frequency", "coefficient")

    def forward(self, times):
        return (self.coefficient * harmonics(times, self.log_frequency.exp(), self.coefficient.shape[1] // 2)).sum(-1)


def harmonics(times, w, J):
    """[1, cos w t .. cos J w t, sin w t .. sin J w t], (.., k, 1 + 2J)"""
    j = torch.arange(1, J + 1, dtype=torch.float64, device=w.device)
    first = waves(times, w)[..., None]
    phases = first * j
    return torch.cat([torch.ones_like(first), phases.cos(), phases.sin()], -1)
