"""The next token."""
from .parts import Linear, Part, form, label_loss
from .tokens import Trunk


class Noise(Part):
    """Sampled softmax of training; predictions do not use it."""

    learned, fixed = ("log_z",), ("weights",)


@form("model", "lm")
class LanguageModel(Part):
    """Causal blocks and a linear head, whose weights may be the embeddings. tokens (B, T), times (B, T) of timed ones
    -> logits (B, T, V)"""

    def __init__(self, at):
        super().__init__(at)
        self.trunk, self.head = Trunk(at, causal=True), Linear(at / "head")
        self.noise = Noise(at / "noise") if at.has("noise") else None

    def forward(self, tokens, times=None):
        x = self.trunk(tokens, times=times)
        logits = self.head(x) if self.head.weight is not None else x @ self.trunk.embedding.weight.T + self.head.bias
        cap = self.config.get("model.logit_cap", 0)
        return cap * (logits / cap).tanh() if cap else logits

    def loss(self, tokens, targets, times=None):
        """Mean nats over the targets that are not -1, without what training adds, see label_loss(). (B, T), (B, T)
        -> ()"""
        return label_loss(self.config, self(tokens, times).flatten(0, 1), targets.flatten())
