"""Prediction of hidden sensor readings."""
import torch

from .blocks import BlockStack
from .forecaster import Standardize
from .parts import Linear, Part, form
from .space_time import PlaceScale, placed, space_time


@form("model", "sensors")
class SensorModel(Part):
    """Every reading is a token of its values, the mask of seen ones, and an encoding of place and time; blocks
    in both directions; a linear head. values and seen (B, T, V) in the unit of the training data, 0 if `seen` is;
    places (B, T, d), times (B, T) in that of the data, of which those since the first row of each window count
    -> (B, T, V)"""

    def __init__(self, at):
        super().__init__(at)
        self.standardize, self.place_scale = Standardize(at / "standardize"), PlaceScale(at / "place_scale")
        self.encoding = space_time(at / "encoding")
        self.input, self.head = Linear(at / "input"), Linear(at / "head")
        self.stack = BlockStack(at, causal=False)

    def forward(self, values, seen, places, times):
        x, each = self.input(torch.cat([values, seen], -1)), None
        if self.encoding:
            since_first = times.double() - times[:, :1].double()
            x, each = placed(self.config, x, self.encoding(*self.place_scale(places, since_first)).to(x))
        return self.head(self.stack(x, each=each))

    def loss(self, values, seen, places, times, targets, asked):
        """Mean squared error over the asked values. -> ()"""
        error = (self(values, seen, places, times) - targets) * asked
        return error.square().sum() / asked.sum().clamp(min=1)
