"""The frequencies of feature maps."""
from .parts import Part, make


class Frequencies(Part):
    """w (H, m, d): draws of a density, of its proposal under importance sampling, or rows of a projection times
    exp(log_scale); times exp(log_head_scale) where the config has a spread."""

    learned = ("log_scale", "log_head_scale")

    def __init__(self, at):
        super().__init__(at)
        config = at.config
        self.density = self.proposal = self.projection = None
        if at.has("projection") or at.has("log_scale"):
            self.projection = make("projection", config["model.mixer.features.projection"], at / "projection")
        else:
            self.density = make("density", config["model.mixer.density.kind"], at / "density", "model.mixer.density")
        if at.has("proposal"):
            kind = config["model.mixer.density.proposal"]
            self.proposal = make("density", kind, at / "proposal", "model.mixer.density").requires_grad_(False)

    def forward(self):
        if self.proposal:
            w = self.proposal.draws()
        elif self.density:
            w = self.density.draws()
        else:
            w = self.projection() * self.log_scale.exp()
        return w if self.log_head_scale is None else w * self.log_head_scale.exp()
