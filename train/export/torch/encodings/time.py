"""Use of the times of tokens in models. Times are double, in units of TimeScale; phases are taken in double."""
import torch

from .parts import Linear, Part, make_time


def waves(times, w):
    """w t, (.., m)"""
    return times.double()[..., None] * w.double()


def rotates(encoding, times):
    """Returns the phases w t of an encoding by waves. (B, T, m)"""
    return waves(times, encoding.frequencies())


class TimeScale(Part):
    """Origin and unit of the times of the data."""

    fixed = ("origin", "unit")

    def forward(self, times):
        return (times.double() - self.origin.double()) / self.unit.double()


def gaps_of(times):
    """Returns the times since the token before, 0 for the first. (B, T)"""
    return torch.diff(times, dim=1, prepend=times[:, :1])


class TimeInput(Part):
    """Adds the encoding before the blocks: [x, Phi(t)] W + b ("concatenate") or x + Phi(t) W + b ("add"); x if there is
    none."""

    def __init__(self, at):
        super().__init__(at)
        self.use = at.config["model.time.use"]
        is_here = at.config["model.time.kind"] != "none" and self.use in ("concatenate", "add")
        self.time = make_time(at / "time") if is_here else None
        self.mix = Linear(at / "mix") if is_here else None

    def forward(self, x, times):
        if self.time is None:
            return x
        phi = self.time(times).to(x)
        return x + self.mix(phi) if self.use == "add" else self.mix(torch.cat([x, phi], -1))
