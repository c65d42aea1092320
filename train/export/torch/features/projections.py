"""Frequencies from structured matrices in place of draws. (H, m, d)"""
import math

import torch

from .parts import Part, form


def hadamard(x):
    """Walsh-Hadamard transform of the last axis in natural order, divided by the root of its size."""
    n, span = x.shape[-1], 1
    shape = x.shape
    while span < n:
        low, high = x.reshape(*shape[:-1], n // (2 * span), 2, span).unbind(-2)
        x, span = torch.stack([low + high, low - high], -2).reshape(shape), 2 * span
    return x / math.sqrt(n)


class Projection(Part):
    def first_rows(self, columns):
        """Blocks (H, blocks, d, p), rows as columns, as many as configured."""
        return columns.transpose(-1, -2).flatten(1, 2)[:, : self.config["model.mixer.m"]]


@form("projection", "fastfood")
class FastfoodProjection(Projection):
    """Rows of S H G P H B: `mixed` holds the columns of P H, B = signs, G = gaussian, S = lengths."""

    learned, fixed = ("signs", "gaussian", "lengths"), ("mixed",)

    def forward(self):
        return self.first_rows(hadamard(self.mixed * self.signs * self.gaussian) * self.lengths)


@form("projection", "sorf")
class SorfProjection(Projection):
    """Rows of S H D_1 H D_2 H D_3."""

    learned = ("first", "second", "third", "lengths")

    def forward(self):
        d, p = self.third.shape[-2], self.first.shape[-1]
        inner = hadamard(torch.eye(d, p).to(self.third) * self.third)
        return self.first_rows(hadamard(hadamard(inner * self.second) * self.first) * self.lengths)


@form("projection", "radial")
class RadialProjection(Projection):
    fixed = ("rows",)

    def forward(self):
        return self.rows
