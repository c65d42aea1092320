"""Mixtures of Gaussians."""
import torch
from torch.nn.functional import one_hot

from .gaussian import Density, log_normal
from .parts import form


@form("density", "mixture")
class MixtureDensity(Density):
    """w = p mean + (p exp(log_scale)) z, p = softmax((logits + g) / temperature) over K components, g = -ln(-ln
    Phi(z')) Gumbel noise by quantiles of the last K numbers of the noise; at temperature 0 p selects the largest. mean
    and log_scale (H, K, d)"""

    learned = ("mean", "log_scale", "logits")

    def draws(self):
        d, temperature = self.mean.shape[-1], self.key("temperature", 0.1)
        z, score = self.noise[..., :d], self.noise[..., d:]
        preference = self.logits - torch.log(-torch.special.log_ndtr(score.double())).to(score)
        if temperature > 0:
            p = (preference / temperature).softmax(-1)
        else:
            p = one_hot(preference.argmax(-1), preference.shape[-1]).to(preference)
        return p @ self.mean + (p @ self.log_scale.exp()) * z

    def log_density(self, w):
        log_scale = self.log_scale[:, None]
        s = (w[:, :, None] - self.mean[:, None]) * (-log_scale).exp()
        logs = log_normal(s) - log_scale.sum(-1)
        return (logs + self.logits.log_softmax(-1)).logsumexp(-1)
