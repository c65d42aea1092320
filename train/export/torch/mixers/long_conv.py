"""One long convolution for each channel."""
import torch

from .filters import DyadicFilter, Filter, TwoSidedFilter, filter_of
from .parts import GatedOutput, Part, convolve, form


@form("mixer", "long_conv")
class LongConvolutionMixer(Part):
    """p sigmoid(r), [p, r] = gelu(h * x) W + b"""

    def __init__(self, at, stack):
        super().__init__(at)
        self.filter, self.output = self.filter_at(at / "filter"), GatedOutput(at / "output")

    def filter_at(self, at):
        return filter_of(at, "explicit")

    def forward(self, x, layout):
        return self.output(convolve(layout.without_padding(x), *self.filter.kernel(x.shape[1])))


class InterpolatedMixer(LongConvolutionMixer):
    def filter_at(self, at):
        return TwoSidedFilter(at, DyadicFilter)


@form("mixer", "sgconv")
def sgconv(at, stack):
    return (SgConvMixer if at.config["model.mixer.filter.piece"] == 1 else InterpolatedMixer)(at, stack)


class BlockFilter(Filter):
    """weight_s 2^(blocks - 1 - s) / norm on blocks s of 1, 1, 2, 4, .. lags, the last cut to the kernel,
    and skip for the token itself; blocks of the future come before those of the past, the farthest first."""

    learned, fixed = ("weight", "skip"), ("norm",)

    def kernel(self, T):
        both = len(self.norm) == 2
        blocks = len(self.weight) // (2 if both else 1)
        scale = 2.0 ** torch.arange(blocks - 1, -1, -1).to(self.weight)[:, None]
        past = (self.weight[-blocks:] * scale / self.norm[0])[[lag.bit_length() for lag in range(min(T, self.lags()))]]
        past = torch.cat([past[:1] + self.skip, past[1:]])
        if not both:
            return past, 0
        future = (self.weight[:blocks].flip(0) * scale / self.norm[1])[
            [(lag - 1).bit_length() for lag in range(1, min(T - 1, self.lags()) + 1)]
        ]
        return torch.cat([future.flip(0), past]), len(future)


class SgConvMixer(LongConvolutionMixer):
    def filter_at(self, at):
        return BlockFilter(at)
