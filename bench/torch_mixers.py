"""Mixers of long memory in PyTorch, as one would write them there for a CPU: chunks of products, transforms by FFT,
a loop over chunks where a state is handed on. Each is (B, T, D) -> (B, T, D).
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

CHUNK = 32


def chunks(x):
    """(B, T, H, n) -> (B, H, T / CHUNK, CHUNK, n)"""
    return x.transpose(1, 2).unflatten(2, (-1, CHUNK))


def tokens(x):
    """(B, H, T / CHUNK, CHUNK, n) -> (B, T, H n)"""
    return x.flatten(2, 3).transpose(1, 2).flatten(2)


def lower(n, diagonal=0):
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


def rms_norm(x):
    return F.rms_norm(x, x.shape[-1:])


class Heads(nn.Module):
    """Queries, keys and values by head, and the way back."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def split(self, x):
        """(B, T, D) -> (B, H, T / CHUNK, CHUNK, d) each"""
        return (chunks(y) for y in self.inputs(x).unflatten(2, (3 * self.heads, -1)).chunk(3, 2))


class GatedLinearAttention(Heads):
    """S <- diag(a_t) S + k_t v_t^T, y = S^T q over the sum of weights: sums of a chunk by masked products of decayed
    queries and keys."""

    def __init__(self, width, heads, m, features, rank=16):
        super().__init__(width, heads)
        self.features = features
        self.frequencies = nn.Parameter(0.5 * torch.randn(m, width // heads))
        self.gate = nn.Sequential(nn.Linear(width, rank, bias=False), nn.Linear(rank, heads * m))

    def forward(self, x):
        q, k, v = self.split(x)
        q, k = self.features(q, self.frequencies, (-1,)), self.features(k, self.frequencies, (-3, -2, -1))
        v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
        passed = -chunks(F.softplus(self.gate(x) - 3).unflatten(2, (self.heads, -1))).cumsum(3)
        last = passed[..., -1:, :]
        reading, writing = q * passed.exp(), k * (-passed).exp()
        within = (reading @ writing.transpose(-1, -2)).tril() @ v
        sums = (k * (last - passed).exp()).transpose(-1, -2) @ v
        decay, state, before = last.exp().transpose(-1, -2), torch.zeros_like(sums[:, :, 0]), []
        for n in range(sums.shape[2]):
            before.append(state)
            state = decay[:, :, n] * state + sums[:, :, n]
        y = within + reading @ torch.stack(before, 2)
        return self.output(tokens(y[..., :-1] / y[..., -1:]))


class DeltaRule(Heads):
    """S <- a S, S <- S + b k (v - S^T k)^T, y = S^T q with q and k of unit length, in the chunked WY form."""

    def __init__(self, width, heads, m, features):
        super().__init__(width, heads)
        self.features = features
        self.frequencies = nn.Parameter(0.5 * torch.randn(m, width // heads))
        self.gates = nn.Linear(width, 2 * heads)

    def forward(self, x):
        q, k, v = self.split(x)
        q, k = (F.normalize(self.features(y, self.frequencies, (-1,)), dim=-1) for y in (q, k))
        strength, rate = chunks(self.gates(x).unflatten(2, (self.heads, 2))).chunk(2, -1)
        strength, passed = strength.sigmoid(), -F.softplus(rate).cumsum(3)
        decay = (passed - passed.transpose(-1, -2)).masked_fill(~lower(CHUNK), -math.inf).exp()
        last = passed[..., -1:, :]
        solve = (strength * (k @ k.transpose(-1, -2)) * decay).tril(-1) + torch.eye(CHUNK)
        right = torch.cat([strength * passed.exp() * k, strength * v], -1)
        solved = torch.linalg.solve_triangular(solve, right, upper=False, unitriangular=True)
        W, U = solved.split([k.shape[-1], v.shape[-1]], -1)
        within, reading, writing = (q @ k.transpose(-1, -2)) * decay, q * passed.exp(), k * (last - passed).exp()
        state, outputs = q.new_zeros(*q.shape[:2], k.shape[-1], v.shape[-1]), []
        for n in range(q.shape[2]):
            values = U[:, :, n] - W[:, :, n] @ state
            outputs.append(reading[:, :, n] @ state + within[:, :, n] @ values)
            state = last[:, :, n].exp() * state + writing[:, :, n].transpose(-1, -2) @ values
        return self.output(tokens(rms_norm(torch.stack(outputs, 2))))


class Mamba2(nn.Module):
    """S <- exp(-a dt) S + b (dt x)^T, y = S^T c + skip x by head: masked products within a chunk, a state between
    chunks. x, b and c after a convolution; then the RMS norm of y silu(gate)."""

    def __init__(self, width, heads, states=64, expansion=2, taps=4):
        super().__init__()
        inner = expansion * width
        mixed = inner + 2 * states
        self.heads, self.sizes = heads, [inner, states, states]
        self.inputs, self.output = nn.Linear(width, inner + mixed), nn.Linear(inner, width)
        self.step, self.short = nn.Linear(width, heads), nn.Conv1d(mixed, mixed, taps, padding=taps - 1, groups=mixed)
        self.log_rate, self.skip = nn.Parameter(torch.linspace(1, 16, heads).log()), nn.Parameter(torch.ones(heads, 1))
        self.norm = nn.RMSNorm(inner)

    def forward(self, u):
        gate, mixed = self.inputs(u).tensor_split([self.sizes[0]], -1)
        mixed = F.silu(self.short(mixed.transpose(1, 2))[..., : u.shape[1]].transpose(1, 2))
        x, b, c = mixed.split(self.sizes, -1)
        x, step = x.unflatten(2, (self.heads, -1)), F.softplus(self.step(u) - 3)[..., None]
        b, c = chunks(b[:, :, None]), chunks(c[:, :, None])
        written, passed = chunks(step * x), chunks(-step * self.log_rate.exp()[:, None]).cumsum(3)
        decay = (passed - passed.transpose(-1, -2)).masked_fill(~lower(CHUNK), -math.inf).exp()
        within = (c @ b.transpose(-1, -2) * decay) @ written
        last = passed[..., -1:, :]
        sums = (b * (last - passed).exp()).transpose(-1, -2) @ written
        state, before = torch.zeros_like(sums[:, :, 0]), []
        for n in range(sums.shape[2]):
            before.append(state)
            state = last[:, :, n].exp() * state + sums[:, :, n]
        y = tokens(within + (c * passed.exp()) @ torch.stack(before, 2))
        y = y + (self.skip * x).flatten(2)
        return self.output(self.norm(y * F.silu(gate)))


class Rwkv7(nn.Module):
    """S <- diag(w) S - (u o a) (S^T u)^T + k v^T, y = S^T r in chunks of 16 tokens: rows that read times the decay
    since the chunk began, rows that write divided by it, and a triangular solve for what u reads."""

    def __init__(self, width, heads, rank=32, chunk=16):
        super().__init__()
        self.heads, self.chunk = heads, chunk
        self.shift = nn.Parameter(torch.full((6, width), 0.5))
        self.maps = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.narrow = nn.ModuleList(
            nn.Sequential(nn.Linear(width, rank), f, nn.Linear(rank, width)) for f in (nn.Tanh(), nn.Identity(), nn.Sigmoid())
        )
        self.erase_key, self.write_rate, self.bonus = (nn.Parameter(torch.ones(heads, width // heads)) for _ in range(3))
        self.norm, self.output = nn.GroupNorm(heads, width, eps=1e-5 * width / heads), nn.Linear(width, width)

    def forward(self, x):
        change = F.pad(x, (0, 0, 1, 0))[:, :-1] - x
        r, k, v, w, a, gate = (f(x + change * share) for f, share in zip((*self.maps, *self.narrow), self.shift))
        r, k, v, w, a = (each.unflatten(2, (self.heads, -1)) for each in (r, k, v, w, a))
        a, rate = a.sigmoid(), math.exp(-0.5) * w.sigmoid()
        u, k = F.normalize(k * self.erase_key, dim=-1), k * (1 + (a - 1) * self.write_rate)
        y = self.written(*(each.transpose(1, 2).unflatten(2, (-1, self.chunk)) for each in (r, k, v, -u, u * a, rate)))
        y = self.norm(tokens(y).transpose(1, 2)).transpose(1, 2)
        y = y + ((r * k * self.bonus).sum(-1, keepdim=True) * v).flatten(2)
        return self.output(y * gate)

    def written(self, q, k, v, a, b, rate):
        """S <- diag(exp(-rate)) S + b (S^T a)^T + k v^T, S^T q. (B, H, chunks, C, d) each"""
        C, last = self.chunk, rate.cumsum(3)
        passed, before = (-last).exp(), (rate - last).exp()
        writes = torch.cat([b, k], 3) / torch.cat([passed, passed], 3)
        a, q = a * before, q * passed
        below, until = lower(C, -1), lower(C)
        to_b, to_k = (a @ writes.transpose(-1, -2) * below.repeat(1, 2)).split(C, -1)
        read = q @ writes.transpose(-1, -2) * until.repeat(1, 2)
        right = torch.cat([a, to_k @ v], -1)
        solved = torch.linalg.solve_triangular(torch.eye(C) - to_b, right, upper=False, unitriangular=True)
        W, U = solved.split([a.shape[-1], v.shape[-1]], -1)
        state, outputs, end = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1]), [], passed[..., -1, :, None]
        for n in range(q.shape[2]):
            values = torch.cat([W[:, :, n] @ state + U[:, :, n], v[:, :, n]], 2)
            outputs.append(q[:, :, n] @ state + read[:, :, n] @ values)
            state = end[:, :, n] * (state + writes[:, :, n].transpose(-1, -2) @ values)
        return torch.stack(outputs, 2)


class LogLinearAttention(Heads):
    """y_i = sum_j weight_il (q_i . k_j) v_j with q and k of length 1, l the level of i and j in a Fenwick tree: masked
    products within a chunk, above it a product of each level's right blocks with the sums of the left ones."""

    def __init__(self, width, heads, m, features, levels=12):
        super().__init__(width, heads)
        self.features = features
        self.frequencies = nn.Parameter(0.5 * torch.randn(m, width // heads))
        self.levels = nn.Linear(width, heads * levels)
        i = torch.arange(CHUNK)
        self.register_buffer("level", torch.ceil(torch.log2((i[:, None] ^ i) + 1.0)).long())

    def forward(self, x):
        q, k, v = self.split(x)
        q, k = (F.normalize(self.features(y, self.frequencies, (-1,)), dim=-1) for y in (q, k))
        weights = chunks(F.softplus(self.levels(x)).unflatten(2, (self.heads, -1)))
        within = weights.gather(4, self.level.expand(*weights.shape[:4], CHUNK)).tril() * (q @ k.transpose(-1, -2))
        y, sums, level = within @ v, k.transpose(-1, -2) @ v, int(math.log2(CHUNK)) + 1
        while sums.shape[2] > 1:
            left = sums[:, :, ::2]

            def right(each):
                return each.unflatten(2, (left.shape[2], 2, -1))[:, :, :, 1].flatten(3, 4)

            read = right(weights[..., level : level + 1]) * (right(q) @ left)
            blocks = F.pad(read[:, :, :, None], (0, 0, 0, 0, 1, 0))
            y, sums, level = y + blocks.reshape(y.shape), left + sums[:, :, 1::2], level + 1
        return self.output(tokens(rms_norm(y)))


class ImplicitFilter(nn.Module):
    """h(t) of every channel: an MLP of sines over positional features, times an exponential window."""

    def __init__(self, channels, length, hidden=64, bands=2):
        super().__init__()
        t = torch.linspace(0, 1, length)[:, None]
        phases = 2 * math.pi * t * torch.linspace(1e-4, bands - 1, bands)
        self.register_buffer("features", torch.cat([t, phases.cos(), -phases.sin()], -1))
        self.layers = nn.ModuleList(nn.Linear(n, hidden) for n in (2 * bands + 1, hidden, hidden))
        self.frequency, self.last = nn.Parameter(10 * torch.ones(hidden)), nn.Linear(hidden, channels, bias=False)
        rates = torch.linspace(math.log(1e-2) / 1.5, math.log(1e-2) / 0.3, channels).abs()
        self.register_buffer("window", (-t * rates).exp())

    def forward(self):
        x = self.features
        for layer in self.layers:
            x = torch.sin(self.frequency * layer(x))
        return self.last(x) * self.window


def causal_convolution(x, kernel):
    """(B, T, D) with (T, D), by FFT of twice the length."""
    n = 2 * x.shape[1]
    return torch.fft.irfft(torch.fft.rfft(x, n, 1) * torch.fft.rfft(kernel, n, 0), n, 1)[:, : x.shape[1]]


class Hyena(nn.Module):
    """z <- x_n o (h_n * z), n = 1 .. order, from z = v."""

    def __init__(self, width, length, order=2):
        super().__init__()
        self.order = order
        self.inputs, self.output = nn.Linear(width, (order + 1) * width), nn.Linear(width, width)
        self.short = nn.Conv1d((order + 1) * width, (order + 1) * width, 3, padding=2, groups=(order + 1) * width)
        self.filter, self.skip = ImplicitFilter(order * width, length), nn.Parameter(torch.randn(order, width))

    def forward(self, x):
        x = self.inputs(x)
        x = x + self.short(x.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2)
        *gates, z = x.chunk(self.order + 1, -1)
        for gate, kernel, skip in zip(gates, self.filter().chunk(self.order, -1), self.skip):
            z = gate * (causal_convolution(z, kernel) + skip * z)
        return self.output(z)


class S5(nn.Module):
    """2 Re(C h) + d u, h <- lambda h + B u with n complex lambda, in both directions; then x sigmoid(W gelu(x)).
    States of a chunk are products with powers of lambda; a loop hands the last on."""

    def __init__(self, width, states):
        super().__init__()
        n = states
        self.log_rate, self.turn = nn.Parameter(torch.full((n,), math.log(0.5))), nn.Parameter(torch.full((n,), 0.866))
        self.log_step = nn.Parameter(torch.empty(n).uniform_(math.log(1e-3), math.log(1e-1)))
        self.write = nn.Parameter(torch.randn(width, n, 2) / math.sqrt(2 * width))
        self.read = nn.Parameter(torch.randn(2, n, width, 2) / math.sqrt(n))
        self.skip, self.gate = nn.Parameter(torch.randn(width)), nn.Linear(width, width)

    def scan(self, u, log_decay):
        """h_t = exp(log_decay) h_(t-1) + u_t, (B, T, n) complex."""
        u = u.unflatten(1, (-1, CHUNK))
        lags = torch.arange(CHUNK)[:, None] - torch.arange(CHUNK)
        powers = torch.exp(log_decay * lags.clamp(min=0)[..., None]) * (lags >= 0)[..., None]
        within = torch.einsum("tsn,bcsn->bctn", powers, u)
        state, before, over = torch.zeros_like(u[:, 0, 0]), [], torch.exp(log_decay * CHUNK)
        for c in range(u.shape[1]):
            before.append(state)
            state = over * state + within[:, c, -1]
        carried = torch.exp(log_decay * torch.arange(1, CHUNK + 1)[:, None])
        return (within + torch.stack(before, 1)[:, :, None] * carried).flatten(1, 2)

    def forward(self, x):
        eigenvalues = torch.complex(-self.log_rate.exp(), self.turn)
        log_decay = eigenvalues * self.log_step.exp()
        scale = (log_decay.exp() - 1) / eigenvalues
        u = x.to(torch.complex64) @ (torch.view_as_complex(self.write) * scale)
        read = torch.view_as_complex(self.read)
        y = self.scan(u, log_decay) @ read[0] + self.scan(u.flip(1), log_decay).flip(1) @ read[1]
        y = 2 * y.real + self.skip * x
        return y * self.gate(F.gelu(y)).sigmoid()
