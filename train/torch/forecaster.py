"""The next H rows of a series from the last L."""

import torch
from torch.nn.functional import huber_loss, l1_loss, mse_loss

from .blocks import BlockStack
from .parts import Layout, Linear, Part, form, make
from .positions import positions
from .time import TimeInput, TimeScale, gaps_of


class Standardize(Part):
    """Units of the variates: mean and deviation over the training data. (B, V, ..)"""

    fixed = ("mean", "deviation")

    def forward(self, x):
        shape = (-1,) + (1,) * (x.dim() - 2)
        return (x - self.mean.view(shape)) / self.deviation.view(shape)

    def undo(self, x):
        shape = (-1,) + (1,) * (x.dim() - 2)
        return x * self.deviation.view(shape) + self.mean.view(shape)


class InstanceNorm(Part):
    """The unit of each window of each variate: last (x - last value), mean (x - mean), revin
    ((x - mean) / sqrt(variance + 1e-5)); then gain and bias of each variate, if learned, (V, 1)."""

    learned = ("gain", "bias")

    def unit(self, x):
        kind = self.config["model.instance_norm.kind"]
        center = {"none": 0, "last": x[..., -1:]}.get(kind, x.mean(-1, keepdim=True))
        scale = (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt() if kind == "revin" else 1
        return center, scale

    def forward(self, x, unit):
        y = (x - unit[0]) / unit[1]
        return y if self.gain is None else y * self.gain + self.bias

    def undo(self, y, unit):
        y = y if self.gain is None else (y - self.bias) / self.gain
        return y * unit[1] + unit[0]


@form("model", "forecaster")
class Forecaster(Part):
    """Instance normalisation around a backbone that sees one variate at a time. past (B, V, L) in units of the training
    data, see `standardize`; times (B, L + H) of all rows, in the unit of the data, where the backbone is "rows"
    -> (B, V, H)"""

    def __init__(self, at):
        super().__init__(at)
        self.standardize, self.norm = Standardize(at / "standardize"), InstanceNorm(at / "instance_norm")
        self.backbone = make("backbone", at.config["model.backbone"], at / "backbone")

    def forward(self, past, times=None):
        unit = self.norm.unit(past)
        return self.norm.undo(self.backbone(self.norm(past, unit), times), unit)

    def loss(self, past, targets, times=None):
        """Mean over windows, variates and rows. -> ()"""
        loss = {"mse": mse_loss, "mae": l1_loss, "huber": huber_loss}[self.config["model.loss"]]
        return loss(self(past, times), targets)


class WindowMap(Part):
    """x W + b, W (L, H), or (V, H, L) of each variate"""

    learned = ("weight", "bias")

    def forward(self, x):
        if self.weight.dim() == 2:
            return x @ self.weight + self.bias
        return torch.einsum("bvl,vhl->bvh", x, self.weight) + self.bias


@form("backbone", "linear")
class LinearForecast(Part):
    """One map of the window, or one of the mean over `moving_average` rows around each, the ends repeated, and one of
    the rest."""

    def __init__(self, at):
        super().__init__(at)
        self.trend = WindowMap(at / "trend") if at.has("trend") else None
        self.remainder = WindowMap(at / ("remainder" if self.trend else "window"))

    def forward(self, x, times):
        if self.trend is None:
            return self.remainder(x)
        n = self.config["model.moving_average"]
        before = (n - 1) // 2
        ends = [x[..., :1].expand(-1, -1, before), x, x[..., -1:].expand(-1, -1, n - 1 - before)]
        average = torch.cat(ends, -1).unfold(-1, n, 1).mean(-1)
        return self.trend(average) + self.remainder(x - average)


@form("backbone", "attention")
class AttentionForecast(Part):
    """Patches of a window as tokens, blocks in both directions, one linear map of all tokens."""

    def __init__(self, at):
        super().__init__(at)
        self.embedding, self.head, self.positions = Linear(at / "embedding"), Linear(at / "head"), positions(at)
        self.stack = BlockStack(at, causal=at.config["model.mixer.directions"] == 1)

    def forward(self, x, times):
        length, stride = (self.config["model.patch." + name] for name in ("length", "stride"))
        tokens = self.embedding(x.unfold(-1, length, stride).flatten(0, 1))
        tokens = self.stack(self.positions(tokens) if self.positions else tokens)
        return self.head(tokens.flatten(1)).view(*x.shape[:2], -1)


@form("backbone", "rows")
class RowForecast(Part):
    """Rows as tokens at their times, those to come too: value W + kind_0 of rows that are seen, kind_1 of others;
    causal blocks; what is said of a row is read from its own output."""

    learned = ("value", "kind")

    def __init__(self, at):
        super().__init__(at)
        self.time_scale, self.time_input = TimeScale(at / "time_scale"), TimeInput(at)
        self.positions, self.stack, self.head = positions(at), BlockStack(at, causal=True), Linear(at / "head")

    def forward(self, x, times):
        B, V, L = x.shape
        times = self.time_scale(times).repeat_interleave(V, 0)
        seen = x.reshape(B * V, L, 1) * self.value + self.kind[0]
        coming = self.kind[1].expand(B * V, times.shape[1] - L, -1)
        tokens = self.time_input(torch.cat([seen, coming], 1), times)
        tokens = self.positions(tokens) if self.positions else tokens
        gaps = gaps_of(times) if self.config["data.stamps"] else None
        tokens = self.stack(tokens, Layout(gaps=gaps, times=times))
        return self.head(tokens[:, L:]).view(B, V, -1)
