"""Prediction of the next event's time and type."""

import torch
from torch.nn.functional import cross_entropy, softplus

from .blocks import BlockStack
from .parts import Embedding, Layout, Linear, Part, form
from .positions import positions
from .space_time import PlaceScale, placed, space_time
from .time import TimeInput, TimeScale, gaps_of


class Intensity(Part):
    """lambda_k(s) = sum_p a_kp b_p(s) at the time s since the last event: a = softplus(x W + c) / P, b_0 = 1, and for
    each delay exp(-s / delay) and the density of an Erlang distribution of shape 4 and mean `delay`, times its mean:
    4 u^3 e^-u / 6, u = 4 s / delay."""

    def __init__(self, at):
        super().__init__(at)
        self.linear = Linear(at / "linear")
        n, short, long = (at.config["model.intensity." + name] for name in ("delays", "shortest", "longest"))
        self.delays = [short * (long / short) ** (i / max(n - 1, 1)) for i in range(n)]

    def weights(self, x):
        """(B, T, D) -> (B, T, K, P)"""
        P = 1 + 2 * len(self.delays)
        return softplus(self.linear(x)).unflatten(-1, (-1, P)) / P

    def basis(self, s):
        terms = [torch.ones_like(s)]
        for delay in self.delays:
            u = 4 * s / delay
            terms += [(-s / delay).exp(), 4 * u**3 * (-u).exp() / 6]
        return torch.stack(terms, -1)[..., None, :]

    def integrals(self, s):
        """Returns the integrals of the basis from 0 to s."""
        terms = [s]
        for delay in self.delays:
            u = 4 * s / delay
            survival = (-u).exp() * (1 + u + u**2 / 2 + u**3 / 6)
            terms += [-delay * (-s / delay).expm1(), delay * (1 - survival)]
        return torch.stack(terms, -1)[..., None, :]

    def log_intensity(self, weights, s):
        return (weights * self.basis(s).to(weights)).sum(-1).log()

    def compensator(self, weights, s):
        """Returns the integral of sum_k lambda_k from 0 to s."""
        return (weights * self.integrals(s).to(weights)).sum((-2, -1))


class PoissonProcess(Part):
    """Its rate by hour of the week, where times are seconds since 1970, makes a clock of mean rate 1."""

    fixed = ("week", "rate", "types")

    def hours(self, times):
        return times.double().div(3600).floor().long() % 168

    def clock(self, times):
        if self.week is None:
            return times
        rates, weeks, hours = self.week.double(), times.double().div(604800).floor(), self.hours(times)
        readings = torch.cat([rates.new_zeros(1), rates.cumsum(0) * 3600])
        rest = times.double() - weeks * 604800 - hours * 3600
        return weeks * readings[-1] + readings[hours] + rates[hours] * rest


@form("model", "events")
class EventModel(Part):
    """Types, times and places of events -> weights of the intensity after each, (B, T, K, P). types (B, T), times (B,
    T) in the unit of the data, places (B, T, d) if events have them"""

    learned = ("type_factors",)

    def __init__(self, at):
        super().__init__(at)
        self.poisson = PoissonProcess(at / "poisson")
        self.time_scale, self.intensity = TimeScale(at / "time_scale"), Intensity(at / "intensity")
        self.place_scale = PlaceScale(at / "place_scale") if at.has("place_scale") else None
        self.place_encoding = space_time(at / "place_encoding") if at.has("place_encoding") else None
        self.of_type, self.time_input = Embedding(at / "encoding" / "type"), TimeInput(at / "encoding")
        self.positions, self.stack = positions(at), BlockStack(at, causal=True)

    def forward(self, types, times, places=None):
        scaled = self.time_scale(self.poisson.clock(times))
        x, each = self.time_input(self.of_type(types), scaled), None
        if self.positions:
            x = self.positions(x)
        if self.place_encoding:
            since_first = (scaled - scaled[:, :1]) / self.sizes["length"]
            code = self.place_encoding(self.place_scale(places, times)[0], since_first)
            x, each = placed(self.config, x, code.to(x))
        return self.intensity.weights(self.stack(x, Layout(None, gaps_of(scaled), scaled), each))

    def log_intensity(self, weights, spans, times):
        """ln lambda_k at times that are `spans` after the events by the clock, in its unit. -> (B, T, K)"""
        by_span = self.intensity.log_intensity(weights, spans)
        if self.poisson.week is None:
            return by_span
        hours = self.poisson.hours(times)
        log_rates = self.poisson.week[hours].log().to(by_span)[..., None]
        if self.type_factors is None:
            return by_span + log_rates
        of_types = by_span + self.type_factors[hours % 24] + self.type_factors[24 + hours // 24]
        return of_types + by_span.logsumexp(-1, True) - of_types.logsumexp(-1, True) + log_rates

    def loss(self, types, times, next_types, next_times, places=None):
        """Mean nats over the events that have a next one (next type not -1): of its time, in the unit of the
        data, and of its type given the time."""
        weights = self(types, times, places)
        spans = (self.poisson.clock(next_times) - self.poisson.clock(times)).double() / self.time_scale.unit.double()
        log_intensity, judged = self.log_intensity(weights, spans, next_times), next_types != -1
        time = self.intensity.compensator(weights, spans) - log_intensity.logsumexp(-1)
        type_loss = cross_entropy(log_intensity.flatten(0, -2), next_types.flatten(), ignore_index=-1)
        return time[judged].mean() + self.time_scale.unit.log().to(time)[0] + type_loss
