"""A filter bank of series with a ridge head."""
import torch
from torch.nn.functional import conv1d, cross_entropy

from .parts import Part, form, make


def interpolate(x):
    """Puts missing values (NaN) of a channel on lines between those that are there; 0 if there are none. (T)"""
    there = torch.nonzero(~torch.isnan(x)).flatten()
    if len(there) == 0:
        return torch.zeros_like(x)
    t = torch.arange(len(x), device=x.device)
    after = torch.searchsorted(there, t).clamp(max=len(there) - 1)
    right = there[after]
    left = torch.where(right > t, there[(after - 1).clamp(min=0)], right)
    share = (t - left).clamp(min=0) / (right - left).clamp(min=1)
    return x[left] + (x[right] - x[left]) * share


class FilterBank(Part):
    """Features of series: pooled responses of filters at dilations 1, 2, 4, ... of rows and of their differences, see
    model.groups, model.taps and model.pools. A group of eight filters sees a weighted sum of the channels."""

    learned, fixed = ("channel_weights",), ("units", "quantiles", "deviations")

    def __init__(self, at):
        super().__init__(at)
        config = self.config
        self.density = make("density", config["model.density.kind"], at / "density", "model.density")
        self.pools, self.by_series = config["model.pools"], config["model.standardize"] == "series"
        self.taps, self.differences = config["model.taps"], config["model.differences"]

    def filters(self):
        """Centred draws whose absolute values sum to 1. (scales, filters, taps)"""
        draws = self.density.draws().reshape(*self.quantiles.shape, self.taps)
        draws = draws - draws.mean(-1, keepdim=True)
        return draws / draws.abs().sum(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny)

    def standardized(self, x):
        """(C, T) -> (C, T)"""
        x = (x - self.units[:, :1]) / self.units[:, 1:]
        x = torch.stack([interpolate(channel) for channel in x])
        if self.by_series:
            x = x - x.mean(-1, keepdim=True)
            deviation = x.square().mean(-1, keepdim=True).sqrt()
            x = x / torch.where(deviation > 0, deviation, torch.ones_like(deviation))
        return x

    def pool(self, name, y, quantiles):
        """y (groups, 8, T), quantiles (groups, 8) -> list of (groups 8)"""
        if name == "winners":
            top, low = y == y.amax(1, keepdim=True), y == y.amin(1, keepdim=True)
            return [(top * y).mean(-1).clamp(min=0).sqrt().flatten(), low.to(y).mean(-1).sqrt().flatten()]
        if name == "positive":
            return [(y > quantiles[..., None]).to(y).mean(-1).flatten()]
        return [(y.mean(-1) if name == "mean" else y.amax(-1)).flatten()]

    def features(self, x, filters):
        """(C, T), (scales, filters, taps) -> (features)"""
        x, parts = self.standardized(x), []
        for scale, weights in enumerate(self.channel_weights):
            of_differences = self.differences and scale % 2 == 1
            dilation = 2 ** (scale // 2 if self.differences else scale)
            signal = weights @ (x.diff() if of_differences and x.shape[1] > 1 else x)
            pad = self.taps // 2 * dilation
            signal = torch.nn.functional.pad(signal, (pad, (self.taps - 1) * dilation - pad))
            y = conv1d(signal[None], filters[scale][:, None], dilation=dilation, groups=len(signal))
            y = y.reshape(len(signal), 8, -1)
            for name in self.pools:
                parts += self.pool(name, y, self.quantiles[scale].reshape(-1, 8))
        return torch.cat(parts)

    def forward(self, values, lengths=None):
        """values (B, C, T), NaN where missing, lengths (B) -> (B, features)"""
        filters = self.filters()
        ends = [values.shape[2]] * len(values) if lengths is None else lengths.tolist()
        return torch.stack([self.features(x[:, :end], filters) for x, end in zip(values, ends)])


class RidgeHead(Part):
    """factor (b + W^T s), s the features in their units."""

    fixed = ("units", "weights", "biases", "factor")

    def forward(self, x):
        return self.factor * (self.biases + (x - self.units[:, 0]) / self.units[:, 1] @ self.weights)


@form("model", "filter_bank")
class FilterBankModel(Part):
    """values (B, C, T), NaN where missing, lengths (B) -> logits (B, classes), or numbers (B, 1)"""

    learned, fixed = ("log_penalty", "log_factor"), ("left_out",)

    def __init__(self, at):
        super().__init__(at)
        self.bank, self.head = FilterBank(at / "bank"), RidgeHead(at / "head")

    def forward(self, values, lengths=None):
        return self.head(self.bank(values, lengths))

    def loss(self, values, targets, lengths=None):
        """Mean nats of classes, or squared error in variances of the training numbers. -> ()"""
        outputs = self(values, lengths)
        if self.left_out.dim() == 2:
            return cross_entropy(outputs, targets.long())
        return ((outputs[:, 0] - targets) / self.left_out[2]).square().mean()
