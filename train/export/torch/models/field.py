"""The next frame of a field."""
import torch
from torch.nn.functional import mse_loss

from .blocks import BlockStack
from .forecaster import Standardize
from .parts import Linear, Part, form
from .space_time import placed, space_time


@form("model", "field")
class FieldModel(Part):
    """Patches of frames as tokens, with an encoding of place and time in units of the grid and of the frames seen;
    blocks in both directions; a linear head that reads the change of the last frame. frames (B, T, n_1 .. n_d) in the
    unit of the training data, see `standardize`, if it exists -> (B, n_1 .. n_d)"""

    def __init__(self, at):
        super().__init__(at)
        self.standardize = Standardize(at / "standardize") if at.has("standardize") else None
        self.encoding = space_time(at / "encoding")
        self.input, self.head = Linear(at / "input"), Linear(at / "head")
        self.stack = BlockStack(at, causal=False)

    def forward(self, frames):
        B, T, *sides = frames.shape
        p = self.config["model.patch.pixels"]
        patches, d = [side // p for side in sides], len(sides)
        cut = frames.reshape(B, T, *(n for side in patches for n in (side, p)))
        order = [0, 1] + [2 + 2 * j for j in range(d)] + [3 + 2 * j for j in range(d)]
        x, each = self.input(cut.permute(order).reshape(B, -1, p**d)), None
        if self.encoding:
            axes = [torch.arange(n, dtype=torch.float64, device=x.device) / n for n in (T, *patches)]
            nodes = torch.cartesian_prod(*axes)
            x, each = placed(self.config, x, self.encoding(nodes[:, 1:], nodes[:, 0]).to(x))
        y = self.stack(x, each=each)
        last = self.head(y[:, -(y.shape[1] // T) :]).reshape(B, *patches, *[p] * d)
        back = [0] + [axis for j in range(d) for axis in (1 + j, 1 + d + j)]
        return frames[:, -1] + last.permute(back).reshape(B, *sides)

    def loss(self, frames, targets):
        """Mean squared error. -> ()"""
        return mse_loss(self(frames), targets)
