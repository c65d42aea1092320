"""A class or a number for each series: patches of rows as tokens."""
import math

import torch
from torch.nn.functional import softplus

from .blocks import BlockStack
from .forecaster import Standardize, ascending, mean_loss, pinball
from .parts import Layout, Linear, Part, form, label_loss
from .positions import positions


class SeriesModel(Part):
    """Patches of rows with missing indicators, blocks in both directions, the mean of the tokens with values or the class
    token in front ("cls"), a linear head. values (B, T, F), lengths (B), shares (B, 1, T), see tokens() -> (B, outputs)"""

    def __init__(self, at):
        super().__init__(at)
        self.unit, self.embedding = Standardize(at / "unit"), Linear(at / "embedding")
        self.positions, self.head = positions(at), Linear(at / "head")
        self.stack = BlockStack(at, causal=at.config["model.mixer.directions"] == 1)

    def standardized(self, series):
        """(channels, rows) in the unit of the data, missing values NaN"""
        if self.config["model.standardize"] == "channel":
            return (series - self.unit.mean[:, None]) / self.unit.deviation[:, None]
        mean = series.nanmean(1, keepdim=True)
        deviation = (series - mean).square().nanmean(1, keepdim=True).sqrt()
        return (series - mean) / torch.where(deviation > 0, deviation, torch.ones_like(deviation))

    def tokens(self, all_series):
        """Returns values, lengths and shares of a list of series (channels, rows), missing values NaN."""
        length, stride = (self.config["model.patch." + name] for name in ("length", "stride"))
        cls, values, seen = self.config["model.pooling"] == "cls", [], []
        for series in all_series:
            series = self.standardized(series.to(self.unit.mean))
            more = -(-max(0, series.shape[1] - length) // stride)
            rows = torch.full((len(series), length + more * stride), math.nan).to(series)
            rows[:, : series.shape[1]] = series
            patches = rows.unfold(1, length, stride).permute(1, 2, 0)
            numbers = torch.stack([patches.nan_to_num(), patches.isnan().to(rows)], -1).flatten(1)
            exists = ~patches.isnan().flatten(1).all(1)
            if cls:
                numbers = torch.nn.functional.pad(numbers, (0, 1, 1, 0))
                numbers[0, -1], exists = 1, torch.arange(len(numbers)) == 0
            values.append(numbers)
            seen.append((exists if exists.any() else ~exists).to(rows))
        lengths = torch.tensor([len(each) for each in values])
        pad = torch.nn.utils.rnn.pad_sequence
        shares = pad([each / each.sum() for each in seen], batch_first=True).unsqueeze(1)
        return pad(values, batch_first=True), lengths, shares

    def forward(self, values, lengths, shares):
        x = self.embedding(values)
        x = self.stack(self.positions(x) if self.positions else x, Layout(lengths))
        return self.head((shares @ Layout(lengths).without_padding(x)).squeeze(1))


@form("model", "series_classifier")
class SeriesClassifier(SeriesModel):
    """-> logits (B, classes)"""

    def loss(self, values, targets, lengths, shares):
        """Mean nats without weights of classes, see label_loss(). -> ()"""
        return label_loss(self.config, self(values, lengths, shares), targets, self.config.get("model.label_smoothing", 0))


@form("model", "regressor")
class SeriesRegressor(SeriesModel):
    """-> (B, outputs) in units of the training numbers: an answer; for the loss "gaussian" also s with the deviation
    softplus(s) + 0.001; for "quantile" what ascending() makes quantiles of"""

    fixed = ("offsets",)

    def __init__(self, at):
        super().__init__(at)
        self.number = Standardize(at / "number")

    def loss(self, values, targets, lengths, shares):
        """-> () in units of the training numbers"""
        said, loss = self(values, lengths, shares), self.config["model.loss"]
        targets = (targets - self.number.mean) / self.number.deviation
        if loss == "quantile":
            levels = self.config["model.quantiles"]
            return pinball(ascending(said, levels), targets, levels)
        if loss == "gaussian":
            spread = softplus(said[:, 1]) + 1e-3
            error = (targets - said[:, 0]) / spread
            return (error.square() / 2 + spread.log()).mean() + math.log(2 * math.pi) / 2
        return mean_loss(loss, said[:, 0], targets)
