"""Encodings of points of space and time, from sines and cosines of learned frequencies."""
import math

import torch

from .parts import Part, form


class FourierEncoding(Part):
    """m^(-1/2) [sin(w_f . x), cos(w_f . x)], w (m, d), or (m) on the axes, w_f on axis f mod d; phases in double."""

    learned = ("frequencies", "gain")

    def waves(self, x):
        w, d = self.frequencies.double(), x.shape[-1]
        if w.dim() == 1:
            w = w[:, None] * (torch.arange(len(w))[:, None] % d == torch.arange(d)).to(w)
        phases = x.double() @ w.mT
        return (torch.cat([phases.sin(), phases.cos()], -1) / math.sqrt(len(w))).to(self.frequencies)

    def forward(self, x):
        """Multiplies by a learned gain of each frequency, if there is one."""
        y = self.waves(x)
        return y if self.gain is None else y * torch.cat([self.gain, self.gain])


@form("encoding", "fused", "space", "time")
class FusedProjection(Part):
    """[PE_space; PE_time] (W mask), or one of the parts if the kind is "space" or "time"."""

    learned, fixed = ("weight",), ("mask",)

    def __init__(self, at):
        super().__init__(at)
        self.space = FourierEncoding(at / "space") if at.has("space") else None
        self.time = FourierEncoding(at / "time") if at.has("time") else None

    def forward(self, places, times):
        parts = [self.space(places)] if self.space else []
        parts += [self.time(times[..., None])] if self.time else []
        return torch.cat(parts, -1) @ (self.weight * self.mask)


@form("encoding", "additive", "concatenated")
class AdditiveKernel(Part):
    """[PE_space, PE_time] with gains: added to the content ("additive") or concatenated with it ("concatenated")"""

    def __init__(self, at):
        super().__init__(at)
        self.space, self.time = FourierEncoding(at / "space"), FourierEncoding(at / "time")

    def forward(self, places, times):
        return torch.cat([self.space(places), self.time(times[..., None])], -1)


@form("encoding", "multiplicative")
class MultiplicativeKernel(Part):
    """PE of the joint points (u t, x), time first, u = time_scale / space_scale; with gains"""

    def __init__(self, at):
        super().__init__(at)
        self.joint = FourierEncoding(at / "joint")
        self.unit = at.config["model.encoding.time_scale"] / at.config["model.encoding.space_scale"]

    def forward(self, places, times):
        return self.joint(torch.cat([self.unit * times[..., None].double(), places.double()], -1))
