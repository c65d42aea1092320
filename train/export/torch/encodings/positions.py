"""Positions that are added to the embeddings of tokens; rotary ones are in attention.py."""
import torch

from .parts import Part


class LearnedPositions(Part):
    """x + W_t"""

    learned = ("weight",)

    def forward(self, x):
        return x + self.weight[: x.shape[1]]


class SinusoidalPositions(Part):
    """x + [sin, cos, sin, cos, ..] of t 10000^(-2i/D), channels 2i and 2i + 1"""

    def forward(self, x):
        T, D = x.shape[1:]
        i = torch.arange(D, device=x.device) // 2 * 2
        phases = torch.arange(T, device=x.device)[:, None] * 10000.0 ** (-i.double() / D)
        return x + torch.where(torch.arange(D, device=x.device) % 2 == 0, phases.sin(), phases.cos()).to(x)


def positions(at):
    kind = at.config["model.positions"]
    made = {"learned": LearnedPositions, "sinusoidal": SinusoidalPositions}.get(kind)
    return made(at / "positions") if made else None
