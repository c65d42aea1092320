"""A label for each sequence."""
from .parts import Layout, Linear, Part, form, label_loss
from .tokens import Trunk


@form("model", "classifier")
class SequenceClassifier(Part):
    """Blocks in both directions, the mean of all tokens or the class token in front ("cls"), a linear head. tokens (B,
    T), lengths (B), times (B, T) -> logits (B, classes)"""

    def __init__(self, at):
        super().__init__(at)
        self.trunk = Trunk(at, causal=at.config["model.mixer.directions"] == 1)
        self.head = Linear(at / "head")

    def forward(self, tokens, lengths=None, times=None):
        x = self.trunk(tokens, lengths, times)
        if self.config["model.pooling"] == "cls":
            return self.head(x[:, 0])
        count = x.shape[1] if lengths is None else lengths[:, None]
        return self.head(Layout(lengths).without_padding(x).sum(1) / count)

    def loss(self, tokens, targets, lengths=None, times=None):
        """Mean nats, see label_loss(). (B, T), (B) -> ()"""
        return label_loss(self.config, self(tokens, lengths, times), targets, self.config.get("model.label_smoothing", 0))
