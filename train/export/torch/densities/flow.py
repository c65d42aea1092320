"""Flows: monotone splines of each coordinate, then coupling layers."""
import torch
from torch import nn

from .gaussian import LocationScale, log_normal
from .parts import Part, form
from .spline import Spline


class Coupling(Part):
    """(a, b) -> (a, b exp(tanh l) + t), [l, t] = tanh(a W + c) V + e of each head; b is the second half of the
    coordinates, in every second layer the first."""

    learned = ("in", "in_bias", "out", "out_bias")

    def __init__(self, at, swapped):
        super().__init__(at)
        self.swapped, self.given = swapped, getattr(self, "in").shape[1]

    def split(self, x):
        """Returns the given coordinates, the moved ones, and the stretch and shift of these."""
        at = x.shape[-1] - self.given if self.swapped else self.given
        low, high = x[..., :at], x[..., at:]
        given, moved = (high, low) if self.swapped else (low, high)
        hidden = torch.tanh(given @ getattr(self, "in") + self.in_bias)
        stretch, shift = (hidden @ self.out + self.out_bias).chunk(2, -1)
        return given, moved, stretch.tanh(), shift

    def joined(self, given, moved):
        return torch.cat([moved, given] if self.swapped else [given, moved], -1)

    def forward(self, x):
        given, moved, log_stretch, shift = self.split(x)
        return self.joined(given, moved * log_stretch.exp() + shift)

    def inverse(self, y):
        """x and ln |det dy/dx|"""
        given, moved, log_stretch, shift = self.split(y)
        return self.joined(given, (moved - shift) * (-log_stretch).exp()), log_stretch.sum(-1)


@form("density", "flow")
class FlowDensity(LocationScale):
    """s = couplings(splines(z)), splines on [-4, 4]"""

    def __init__(self, at, keys):
        super().__init__(at, keys)
        self.marginals = Spline(at / "marginals", -4, 4)
        self.couplings = nn.ModuleList(
            Coupling(at / "couplings" / str(i), i % 2 == 1) for i in range(at.count("couplings"))
        )

    def standard(self, z):
        x = self.marginals(z)
        for coupling in self.couplings:
            x = coupling(x)
        return x

    def standard_log_density(self, s):
        log_volume = 0
        for coupling in reversed(self.couplings):
            s, log_stretch = coupling.inverse(s)
            log_volume = log_volume + log_stretch
        z, log_slope = self.marginals.inverse(s)
        return log_normal(z) - log_volume - log_slope.sum(-1)
