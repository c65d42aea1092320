"""Latent variables of images, windows of a series or windows of a text."""
import math

import torch
from torch.nn.functional import one_hot, softplus

from .blocks import BlockStack
from .forecaster import Standardize
from .parts import Embedding, Linear, Part, form
from .positions import LearnedPositions, positions


@form("model", "vae")
class VariationalAutoencoder(Part):
    """values (B, T, n) in tokens of pixels of 0 or 1, or of rows in the unit of the training data, see `standardize`; or
    tokens (B, T), bytes -> what the decoder makes of the mean of z and the most probable categories: logits of 1 (B, T,
    n), logits of bytes (B, T, 256), or means (B, T, n), with `model.vae.variance = "of_z"` then log variances (B, T,
    2n). z (.., w): `model.vae.latent` normal numbers, then the discrete variables, one-hot."""

    learned = ("log_variance",)

    def __init__(self, at):
        super().__init__(at)
        config, self.T = at.config, at.sizes["length"]
        self.d, categories = config["model.vae.latent"], config["model.vae.discrete.categories"]
        self.discrete = (config["model.vae.discrete.variables"] if categories else 0, categories)
        self.standardize = Standardize(at / "standardize") if at.has("standardize") else None
        self.input = Embedding(at / "embedding") if at.has("embedding") else Linear(at / "input")
        self.positions = positions(at)
        causal, blocks = config["model.mixer.directions"] == 1, config["model.vae.decoder_blocks"]
        self.encoder = BlockStack(at / "encoder", causal) if at.has("encoder") else None
        self.to_latent, self.from_latent = Linear(at / "to_latent"), Linear(at / "from_latent")
        each = config["model.vae.pooling"] == "each"
        self.decoder_positions = None if each else LearnedPositions(at / "decoder_positions")
        self.decoder = BlockStack(at / "decoder", causal, blocks) if at.has("decoder") else None
        self.head = Linear(at / "head")
        self.variance_head = Linear(at / "log_variance") if config["model.vae.variance"] == "of_z" else None

    def encode(self, x):
        """Returns mean, log variance (B, d) and logits (B, N, K) of q(z | x)."""
        y = self.input(x)
        y = self.positions(y) if self.positions else y
        y = self.encoder(y) if self.encoder else y
        y = self.to_latent(y.mean(1) if self.decoder_positions else y.flatten(1))
        return y[:, : self.d], y[:, self.d : 2 * self.d], y[:, 2 * self.d :].reshape(len(y), *self.discrete)

    def decode(self, z):
        """(R, w) -> (R, T, n)"""
        y = self.from_latent(z)
        if self.decoder_positions:
            y = self.decoder_positions(y.unsqueeze(1).expand(-1, self.T, -1))
        else:
            y = y.unflatten(-1, (self.T, -1))
        y = self.decoder(y) if self.decoder else y
        if self.variance_head is None:
            return self.head(y)
        least = 2 * math.log(0.01)
        return torch.cat([self.head(y), softplus(self.variance_head(y) - least) + least], -1)

    def forward(self, values=None, tokens=None):
        mean, _, logits = self.encode(tokens if values is None else values)
        return self.decode(torch.cat([mean, self.hard(logits).flatten(1)], -1))

    def hard(self, logits):
        return one_hot(logits.argmax(-1), logits.shape[-1]).to(logits) if self.d < self.width() else logits

    def width(self):
        return self.d + self.discrete[0] * self.discrete[1]

    def log_likelihood(self, z, values, tokens):
        """ln p(x | z). z (S, B, w) -> (S, B)"""
        y = self.decode(z.flatten(0, 1)).unflatten(0, z.shape[:2])
        if tokens is not None:
            return y.log_softmax(-1).gather(-1, tokens.expand(len(z), -1, -1).unsqueeze(-1)).sum((-1, -2))
        if self.standardize is None:
            return (y * values - softplus(y)).sum((-1, -2))
        if self.variance_head is None:
            log_variance = self.log_variance.repeat_interleave(values.shape[-1] // len(self.log_variance))
        else:
            y, log_variance = y.chunk(2, -1)
        error = (y - values).square() * torch.exp(-log_variance)
        return (error + log_variance + math.log(2 * math.pi)).sum((-1, -2)) * -0.5

    def temperature(self):
        key = "final_temperature" if self.config["model.vae.discrete.anneal"] else "temperature"
        return self.config["model.vae.discrete." + key]

    def draws(self, logits, noise, temperature):
        """Relaxed draws of the discrete variables by normal noise (S, B, N K), or the same with one-hot values.
        -> (S, B, N K)"""
        g = -torch.log(-torch.log(torch.special.ndtr(noise.unflatten(-1, self.discrete).double())))
        relaxed = torch.softmax((logits + g.to(logits)) / temperature, -1)
        if self.config["model.vae.discrete.gradient"] == "straight_through":
            relaxed = self.hard(relaxed) + relaxed - relaxed.detach()
        return relaxed.flatten(-2)

    def mean_over_categories(self, logits, z, values, tokens):
        """The mean of ln p(x | z) over all categories. z (S, B, d) -> (S, B)"""
        (N, K), total = self.discrete, 0
        eye = torch.eye(K).to(z)
        for choice in torch.cartesian_prod(*[torch.arange(K)] * N).reshape(-1, N):
            c = eye[choice]
            log_q = (logits.log_softmax(-1) * c).sum((-1, -2))
            pairs = torch.cat([z, c.flatten().expand(*z.shape[:2], -1)], -1)
            total = total + log_q.exp() * self.log_likelihood(pairs, values, tokens)
        return total

    def loss(self, noise, values=None, tokens=None, temperature=None):
        """-ELBO in nats per example, with gradients by reparameterisation; standard normal noise (S, B, w), the final
        temperature by default. -> ()"""
        mean, log_variance, logits = self.encode(tokens if values is None else values)
        z = mean + torch.exp(log_variance / 2) * noise[..., : self.d]
        kl = (mean.square() + log_variance.exp() - log_variance - 1).sum(-1) / 2
        if self.d == self.width():
            likelihood = self.log_likelihood(z, values, tokens)
        else:
            log_q = logits.log_softmax(-1)
            kl = kl + (log_q.exp() * log_q + math.log(self.discrete[1]) / self.discrete[1]).sum((-1, -2))
            if self.config["model.vae.discrete.gradient"] == "exact":
                likelihood = self.mean_over_categories(logits, z, values, tokens)
            else:
                c = self.draws(logits, noise[..., self.d :], temperature or self.temperature())
                likelihood = self.log_likelihood(torch.cat([z, c], -1), values, tokens)
        return kl.mean() - likelihood.mean()
