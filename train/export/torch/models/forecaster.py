"""The next H rows of a series from the last L."""

import torch
from torch.nn.functional import gelu, huber_loss, l1_loss, mse_loss, softplus

from .blocks import BlockStack
from .parts import Layout, Linear, Part, form, make
from .positions import positions
from .time import TimeInput, TimeScale, gaps_of


class Standardize(Part):
    """Units of the variates: mean and deviation over training data, per series (B) if there are several. (B, V, ..)"""

    fixed = ("mean", "deviation")

    def unit(self, x, series):
        each = [u if u.dim() == 1 else u[series] for u in (self.mean, self.deviation)]
        return [u.view(*u.shape, *(1,) * (x.dim() - 2)) for u in each]

    def forward(self, x, series=None):
        mean, deviation = self.unit(x, series)
        return (x - mean) / deviation

    def undo(self, x, series=None):
        mean, deviation = self.unit(x, series)
        return x * deviation + mean


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


class RowEffects(Part):
    """The term of covariates in a row: gelu(c W + b) W2, or c W2. (B, T, C) -> (B, V, T)"""

    learned = ("down",)

    def __init__(self, at):
        super().__init__(at)
        self.up = Linear(at / "up") if at.has("up") else None

    def forward(self, c):
        return ((c if self.up is None else gelu(self.up(c))) @ self.down).transpose(1, 2)


def ascending(x, levels):
    """Keeps the output of the level nearest to 1/2; the others differ from their neighbours by a softplus."""
    columns, middle = list(x.unbind(-1)), min(range(len(levels)), key=lambda q: abs(levels[q] - 0.5))
    for q in range(middle + 1, len(columns)):
        columns[q] = columns[q - 1] + softplus(columns[q])
    for q in reversed(range(middle)):
        columns[q] = columns[q + 1] - softplus(columns[q])
    return torch.stack(columns, -1)


def pinball(x, targets, levels):
    """Mean of max(p e, (p - 1) e), e = target - x. (.., Q), (..)"""
    error, p = targets.unsqueeze(-1) - x, torch.tensor(levels).to(x)
    return torch.maximum(p * error, (p - 1) * error).mean()


def mean_loss(kind, x, targets):
    """Mean loss of values, by model.loss. (..), (..) -> ()"""
    losses = {"mse": mse_loss, "mae": l1_loss, "huber": huber_loss}
    if kind not in losses:
        raise NotImplementedError(f'the loss "{kind}" is of the program that trained this model; write it in PyTorch')
    return losses[kind](x, targets)


@form("model", "forecaster")
class Forecaster(Part):
    """Instance normalisation around a backbone that sees one variate at a time. past (B, V, L) in units of the training
    data, see `standardize`; times (B, L + H) of all rows, in the unit of the data, if the backbone is "rows";
    covariates (B, C, L + H) of all rows in the unit of the data and the number of the series (B), where there are such
    -> (B, V, H), or (B, V, H, Q) of quantiles"""

    learned = ("series",)

    def __init__(self, at):
        super().__init__(at)
        self.standardize, self.norm = Standardize(at / "standardize"), InstanceNorm(at / "instance_norm")
        self.covariate_unit = Standardize(at / "covariate_unit") if at.has("covariate_unit") else None
        self.effects = RowEffects(at / "effects") if at.has("effects") else None
        self.backbone = make("backbone", at.config["model.backbone"], at / "backbone")
        self.levels = at.config["model.quantiles"] if at.config["model.loss"] == "quantile" else None

    def context(self, covariates, series, B):
        """Returns the known inputs of all rows. -> (B, L + H, C)"""
        parts = [] if covariates is None else [self.covariate_unit(covariates).transpose(1, 2)]
        if self.series is not None:
            T = self.config["data.lookback"] + self.config["data.horizon"]
            which = torch.zeros(B, dtype=torch.long) if series is None else series
            parts.append(self.series[which].unsqueeze(1).expand(-1, T, -1))
        return torch.cat(parts, -1)

    def forward(self, past, times=None, covariates=None, series=None):
        L, H = past.shape[-1], self.config["data.horizon"]
        unit = self.norm.unit(past)
        x, context = self.norm(past, unit), None
        if self.effects is not None:
            context = self.context(covariates, series, len(past))
            effects = self.effects(context)
            x = x - effects[..., :L]
        y = self.backbone(x, times, context).unflatten(-1, (H, -1))
        if self.levels is not None:
            y = ascending(y, self.levels)
        if self.effects is not None:
            y = y + effects[..., L:].unsqueeze(-1)
        y = self.norm.undo(y.flatten(-2), unit)
        return y if self.levels is None else y.unflatten(-1, (H, -1))

    def loss(self, past, targets, times=None, covariates=None, series=None):
        """Mean over windows, variates and rows. -> ()"""
        said = self(past, times, covariates, series)
        if self.levels is not None:
            return pinball(said, targets, self.levels)
        return mean_loss(self.config["model.loss"], said, targets)


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

    def forward(self, x, times, context):
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

    def forward(self, x, times, context):
        length, stride = (self.config["model.patch." + name] for name in ("length", "stride"))
        x = x[..., (x.shape[-1] - length) % stride :]  # the last patch ends with the window
        tokens = self.embedding(x.unfold(-1, length, stride).flatten(0, 1))
        tokens = self.stack(self.positions(tokens) if self.positions else tokens)
        return self.head(tokens.flatten(1)).view(*x.shape[:2], -1)


@form("backbone", "rows")
class RowForecast(Part):
    """Rows as tokens at their times, those to come too: value W + kind_0 of rows that are seen, kind_1 of others, and
    a linear map of the known inputs of each; causal blocks; each row is predicted from its own output."""

    learned = ("value", "kind", "context")

    def __init__(self, at):
        super().__init__(at)
        self.time_scale, self.time_input = TimeScale(at / "time_scale"), TimeInput(at)
        self.positions, self.stack, self.head = positions(at), BlockStack(at, causal=True), Linear(at / "head")

    def forward(self, x, times, context):
        B, V, L = x.shape
        times = self.time_scale(times).repeat_interleave(V, 0)
        seen = x.reshape(B * V, L, 1) * self.value + self.kind[0]
        coming = self.kind[1].expand(B * V, times.shape[1] - L, -1)
        rows = torch.cat([seen, coming], 1)
        if context is not None:
            rows = rows + (context @ self.context).repeat_interleave(V, 0)
        tokens = self.time_input(rows, times)
        tokens = self.positions(tokens) if self.positions else tokens
        gaps = gaps_of(times) if self.config["data.stamps"] else None
        tokens = self.stack(tokens, Layout(gaps=gaps, times=times))
        return self.head(tokens[:, L:]).reshape(B, V, -1)
