"""Residual blocks, common to all models."""
from torch import nn

from .parts import MLP, GatedOutput, Layout, Part, make, norm


class Stack:
    """Properties of a stack for its mixers. Mixers with `bounds` share them."""

    def __init__(self, causal, blocks):
        self.causal, self.blocks, self.index, self.bounds = causal, blocks, 0, None


class Block(Part):
    """y = x + mixer(norm(x)), then y + mlp(norm(y)); with mlp "glu" x + gate(mixer(norm(x))), with "none" without the
    gate. (B, T, D) -> (B, T, D)"""

    def __init__(self, at, kind, stack):
        super().__init__(at)
        self.mixer_norm = norm(at / "mixer_norm")
        self.mixer = make("mixer", kind, at / "mixer", stack)
        self.gate = GatedOutput(at / "gate") if at.has("gate") else None
        self.mlp_norm = norm(at / "mlp_norm") if at.has("mlp") else None
        self.mlp = MLP(at / "mlp") if at.has("mlp") else None

    def forward(self, x, layout):
        mixed = self.mixer(self.mixer_norm(x), layout)
        y = x + (self.gate(mixed) if self.gate else mixed)
        return y + self.mlp(self.mlp_norm(y)) if self.mlp else y


class BlockStack(Part):
    """blocks.0, blocks.1, .. and the norm after the last, model.blocks of them unless `blocks` says otherwise. `each` is
    added to the input of every block. `residual_scale` and `input_scale` weigh x and the
    first input, see model.input_residual."""

    learned = ("residual_scale", "input_scale")

    def __init__(self, at, causal, blocks=0):
        super().__init__(at)
        blocks = blocks or at.config["model.blocks"]
        kinds = at.config["model.pattern"] or [at.config["model.mixer.kind"]]
        stack, self.blocks = Stack(causal, blocks), nn.ModuleList()
        for stack.index in range(blocks):
            self.blocks.append(Block(at / "blocks" / str(stack.index), kinds[stack.index % len(kinds)], stack))
        self.norm = norm(at / "norm")

    def forward(self, x, layout=None, each=None):
        first, layout = x, layout or Layout()
        layout.first_values = None
        for i, block in enumerate(list(self.blocks) * self.config.get("model.repeat", 1)):
            if self.residual_scale is not None:
                x = x * self.residual_scale[i] + first * self.input_scale[i]
            x = block(x if each is None else x + each, layout)
        return self.norm(x)
