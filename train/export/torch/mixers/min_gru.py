"""Gated recurrences whose gates depend only on their own token."""
from torch import nn
from torch.nn.functional import relu

from .parts import Linear, Part, ShortConvolution, form, scan


class MinGruDirection(Part):
    """h_t = (1 - z_t) h_(t-1) + z_t g(c_t), z = sigmoid(gate(x)), c = candidate(x); g(c) is c + 1/2 for c >= 0, else
    sigmoid(c) ("positive"), or c itself ("linear")."""

    def __init__(self, at):
        super().__init__(at)
        self.gate, self.candidate = Linear(at / "gate"), Linear(at / "candidate")

    def forward(self, x):
        z, c = self.gate(x).sigmoid(), self.candidate(x)
        if self.config["model.mixer.min_gru.candidate"] == "positive":
            c = relu(c) + c.clamp(max=0).sigmoid()
        return scan(1 - z, z * c)


@form("mixer", "min_gru")
class MinGruMixer(Part):
    """A linear map of the states, with both directions added if it is not causal."""

    def __init__(self, at, stack):
        super().__init__(at)
        self.convolution, self.output = ShortConvolution(at / "convolution"), Linear(at / "output")
        self.directions = nn.ModuleList(
            MinGruDirection(at / "directions" / str(i)) for i in range(1 if stack.causal else 2)
        )

    def forward(self, x, layout):
        u = self.convolution(x)
        h = self.directions[0](u)
        if len(self.directions) == 2:
            h = h + layout.reversed(self.directions[1](layout.reversed(u)))
        return self.output(h)
