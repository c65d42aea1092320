"""Monotone splines with learned knots."""
import torch

from .parts import Part


class Spline(Part):
    """A rational-quadratic spline of [low, high] onto itself for each of (H, n), the identity outside: bins have the
    shares 0.99 softmax(widths) + 0.01 / K of the interval, of its values those of heights; slopes at inner knots are
    exp(log_slopes), 1 at the ends. Durkan et al., "Neural spline flows", 2019."""

    learned = ("widths", "heights", "log_slopes")

    def __init__(self, at, low, high):
        super().__init__(at)
        self.low, self.high = low, high

    def knots(self):
        def positions(logits):
            share = 0.99 * logits.softmax(-1) + 0.01 / logits.shape[-1]
            sums = torch.cat([torch.zeros_like(share[..., :1]), share.cumsum(-1)], -1)
            return self.low + (self.high - self.low) * sums

        return positions(self.widths), positions(self.heights), torch.nn.functional.pad(self.log_slopes, (1, 1)).exp()

    def bins(self, knots, numbers):
        """The bin of `knots` of each number, and the x, y and slope at both of its ends: (H, m, n)."""
        bin = (numbers[..., None] >= knots).sum(-1, keepdim=True) - 1
        inside = (bin >= 0) & (bin < knots.shape[-1] - 1)
        bin = bin.clamp(0, knots.shape[-1] - 2)
        ends = [
            each.expand(*numbers.shape, -1).gather(-1, bin + end)[..., 0] for each in self.knots() for end in (0, 1)
        ]
        return inside[..., 0], ends

    def forward(self, x):
        inside, (x0, x1, y0, y1, slope0, slope1) = self.bins(self.knots()[0], x)
        u = torch.where(inside, (x - x0) / (x1 - x0), 0.5)
        t, mean = u * (1 - u), (y1 - y0) / (x1 - x0)
        y = y0 + (y1 - y0) * (mean * u * u + slope0 * t) / (mean + (slope0 + slope1 - 2 * mean) * t)
        return torch.where(inside, y, x)

    def inverse(self, y):
        """x and ln dy/dx"""
        inside, (x0, x1, y0, y1, slope0, slope1) = self.bins(self.knots()[1], y)
        part, mean = torch.where(inside, (y - y0) / (y1 - y0), 0.5), (y1 - y0) / (x1 - x0)
        bend = slope0 + slope1 - 2 * mean
        a, b, c = mean - slope0 + part * bend, slope0 - part * bend, -mean * part
        u = -2 * c / (b + (b * b - 4 * a * c).sqrt())
        t = u * (1 - u)
        along = slope1 * u * u + 2 * mean * t + slope0 * (1 - u) ** 2
        log_slope = 2 * mean.log() + along.log() - 2 * (mean + bend * t).log()
        return torch.where(inside, x0 + (x1 - x0) * u, y), torch.where(inside, log_slope, 0)
