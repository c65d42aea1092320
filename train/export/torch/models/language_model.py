"""The next token."""
from torch.nn.functional import cross_entropy

from .parts import Linear, Part, form
from .tokens import Trunk


class Noise(Part):
    """Sampled softmax of training; predictions do not use it."""

    learned, fixed = ("log_z",), ("weights",)


@form("model", "lm")
class LanguageModel(Part):
    """Causal blocks and a linear head. tokens (B, T), times (B, T) of timed ones -> logits (B, T, V)"""

    def __init__(self, at):
        super().__init__(at)
        self.trunk, self.head = Trunk(at, causal=True), Linear(at / "head")
        self.noise = Noise(at / "noise") if at.has("noise") else None

    def forward(self, tokens, times=None):
        return self.head(self.trunk(tokens, times=times))

    def loss(self, tokens, targets, times=None):
        """Mean nats over the targets that are not -1. (B, T), (B, T) -> ()"""
        return cross_entropy(self(tokens, times).flatten(0, 1), targets.flatten(), ignore_index=-1)
