"""Gated linear attention whose keys are one less its forget gates."""
import torch
from torch.nn.functional import silu

from .linear import backward_sums, gated_sums
from .parts import LayerNorm, Linear, Part, form


class LowerBounds(Part):
    """g_l = sum over j < l of softmax(logits)_j: logits (D, L) of L blocks"""

    learned = ("logits",)

    def of(self, block):
        return self.logits.softmax(1)[:, :block].sum(1)


@form("mixer", "hgrn2")
class Hgrn2Mixer(Part):
    """[i, o, f] = x W + b; lambda = g + (1 - g) sigmoid(f) above the lower bound g of the block; in each head
    S <- diag(lambda) S + (1 - lambda) silu(i)^T, y = S^T sigmoid(o); then a layer norm and a linear map. Not causal,
    the sum of both directions, in which a token counts once."""

    def __init__(self, at, stack):
        super().__init__(at)
        self.causal, self.heads, self.block = stack.causal, at.config["model.mixer.heads"], stack.index
        self.input, self.norm, self.output = Linear(at / "input"), LayerNorm(at / "norm"), Linear(at / "output")
        if at.has("lower_bounds"):
            self.lower_bounds = stack.bounds = LowerBounds(at / "lower_bounds")
        self.bounds = [stack.bounds]  # of the first such block; not a part of the others

    def forward(self, x, layout):
        i, o, f = self.input(x).chunk(3, -1)
        bound = self.bounds[0].of(self.block) if self.block > 0 else 0
        decay = bound + (1 - bound) * torch.sigmoid(f)
        by_head = (each.unflatten(-1, (self.heads, -1)) for each in (o.sigmoid(), 1 - decay, silu(i), decay.log()))
        q, k, v, log_decay = by_head
        y = gated_sums(q, k, v, log_decay)
        if not self.causal:
            y = y + backward_sums(q, k, v, log_decay, layout)
        return self.output(self.norm(y.flatten(-2)))
