"""Common parts of attention: queries, keys and values by head, their positions and times, and the output map."""
import torch

from .parts import Linear, Part, ShortConvolution, make_time, rms_norm
from .time import rotates


class HeadProjection(Linear):
    """A linear map and a short convolution of its outputs. (B, T, D) -> (B, T, H, d)"""

    def __init__(self, at):
        super().__init__(at)
        self.heads = at.config["model.mixer.heads"]
        self.convolution = ShortConvolution(at / "convolution")

    def forward(self, x):
        return self.convolution(super().forward(x)).unflatten(-1, (self.heads, -1))


def turned(x, phases):
    """Rotates pairs (x_i, x_(i + d/2)) by phases (.., d / 2)."""
    first, second = x.chunk(2, -1)
    cosine, sine = phases.cos().to(x), phases.sin().to(x)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], -1)


def rotary(x):
    """Rotates pair i of the token at position t by t 10000^(-2i/d)."""
    half, T = x.shape[-1] // 2, x.shape[1]
    rates = 10000.0 ** (-torch.arange(half, dtype=torch.float64, device=x.device) / half)
    return turned(x, (torch.arange(T, device=x.device)[:, None] * rates)[None, :, None])


class UnitSphere(Part):
    """q and k of length (s d^(1/2))^(1/2) with a learned sharpness s of each head: scores q . k / sqrt(d) are
    s cos(q, k)."""

    learned = ("log_sharpness",)

    def forward(self, x):
        return rms_norm(x, 1e-12) * x.shape[-1] ** -0.25 * (self.log_sharpness / 2).exp()


class Projections(Part):
    """x -> q, k, v (B, T, H, d), normed with "log_sharpness", then rotated by their positions ("rotary"),
    then by their times, or with W Phi(t) added to q and k; v mixed with those of the first block, see
    model.value_residual. join() is the output map."""

    learned = ("value_residual",)
    shares_values = True

    def __init__(self, at, sees_times=True):
        super().__init__(at)
        config = at.config
        self.query, self.key, self.value = (HeadProjection(at / name) for name in ("query", "key", "value"))
        self.output = Linear(at / "output")
        self.sphere = UnitSphere(at) if at.has("log_sharpness") else None
        self.rotary = config["model.positions"] == "rotary"
        in_blocks = config["model.time.kind"] != "none" and config["model.time.use"] in ("attend", "rotate")
        d = self.query.weight.shape[1] // self.query.heads
        self.time = make_time(at / "time", d) if in_blocks and sees_times else None
        self.time_query, self.time_key = (
            Linear(at / name) if at.has(name) else None for name in ("time_query", "time_key")
        )

    def forward(self, x, layout):
        q, k, v = self.query(x), self.key(x), self.mixed(self.value(x), layout)
        if self.sphere:
            q, k = self.sphere(q), self.sphere(k)
        if self.rotary:
            q, k = rotary(q), rotary(k)
        if self.time is None:
            return q, k, v
        if self.time_query:
            phi = self.time(layout.times).to(x)
            return q + self.time_query(phi).view_as(q), k + self.time_key(phi).view_as(k), v
        phases = rotates(self.time, layout.times)[:, :, None]
        return turned(q, phases), turned(k, phases), v

    def mixed(self, v, layout):
        if not self.shares_values:
            return v
        if self.value_residual is not None:
            return v * self.value_residual[0] + layout.first_values * self.value_residual[1]
        if layout.first_values is None:
            layout.first_values = v
        return v

    def join(self, y):
        return self.output(y.flatten(-2))
