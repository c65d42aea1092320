"""Similarity of two vectors y, from 0 to 1: constant + f(y) . f(y')."""
import math

import torch

from .features import fourier, project
from .parts import Part


class AngularSimilarity(Part):
    """1 - angle / pi by signs of n projections, f = sign(w_i . y) / sqrt(2 n); tanh instead of signs if it is
    smooth, and w learned then."""

    constant = 0.5
    learned = ("directions",)

    def forward(self, y):
        u = project(y, self.directions)
        smooth = self.config["model.mixer.features.smooth"]
        return (u.tanh() if smooth else torch.where(u < 0, -1, 1).to(u)) / math.sqrt(2 * self.directions.shape[1])


class GaussianSimilarity(Part):
    """exp(-|y - y'|^2 / (2 tau^2)) by n trigonometric draws, tau = exp(log_tau) of each head."""

    constant = 0
    learned, fixed = ("log_tau",), ("lambda_noise",)

    def forward(self, y):
        return fourier(y, self.lambda_noise * (-self.log_tau).exp())
