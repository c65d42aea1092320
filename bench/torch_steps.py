"""Training steps of the reference models in PyTorch, as one would write them there: batched products, chunked
causal linear attention, the library's own exact attention, fused AdamW. The shapes are those of `bochner bench step`.

usage: torch_steps.py MODEL [--threads N] [--predict] [--autocast] [--compile]

Trains on one random batch. After ten steps that are not counted it prints one JSON line about itself, with the losses
after two and after ten steps; then, for every number N that it reads, it makes N steps and prints their milliseconds
and its peak memory as a JSON line. scripts/bench talks to it. With --predict a step is a forward pass in inference
mode. With --autocast the forward pass runs under torch.autocast("cpu", dtype=torch.bfloat16).
"""
import argparse
import json
import math
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

from torch_mixers import S5, DeltaRule, GatedLinearAttention, Hyena, LogLinearAttention, Mamba2, Rwkv7

# mixer, width, heads, m, blocks, hidden, vocabulary, length, batch, classes (0: language model)
MODELS = {
    "tiny-performer": ("linear", 32, 2, 16, 2, 64, 64, 128, 4, 0),
    "performer-lm": ("linear", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "performer-lm-16k": ("linear", 64, 4, 32, 2, 256, 256, 16384, 1, 0),
    "softmax-lm": ("softmax", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "performer-cls": ("linear", 128, 4, 64, 4, 512, 20, 2048, 8, 10),
    "time-events": ("softmax", 64, 4, 64, 2, 256, 1000, 128, 32, 0),
    "gla-lm": ("gla", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "delta-lm": ("delta", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "mamba2-lm": ("mamba2", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "rwkv7-lm": ("rwkv7", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "log-linear-lm": ("log_linear", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "hyena-lm": ("hyena", 128, 4, 64, 2, 512, 256, 1024, 8, 0),
    "hyena-lm-16k": ("hyena", 64, 4, 32, 2, 256, 256, 16384, 1, 0),
    "s5-cls": ("s5", 128, 4, 64, 4, 512, 20, 2048, 8, 10),
}
# rows, columns and frames, frequencies of space and of time, width, heads, m, blocks, hidden, batch
FIELDS = {"spatiotemporal": (16, 32, 64, 4, 32, 2, 256, 2)}
CHUNK = 64
UNCOUNTED = 11


def orthogonal_frequencies(m, d):
    """m directions, orthogonal in blocks of d, with the lengths of normal vectors."""
    blocks = [torch.linalg.qr(torch.randn(d, d)).Q.T for _ in range(-(-m // d))]
    return torch.cat(blocks)[:m] * torch.randn(m, d).norm(dim=1, keepdim=True)


def positive_features(x, frequencies, stabiliser_axes):
    """exp(w . y - |y|^2 / 2 - stabiliser) / sqrt(m), y = x / d^(1/4). (B, H, T, d) -> (B, H, T, m)"""
    y = x * x.shape[-1] ** -0.25
    projected = y @ frequencies.T
    stabiliser = projected.amax(stabiliser_axes, keepdim=True).detach()
    half_square = y.square().sum(-1, keepdim=True) / 2
    return (torch.exp(projected - half_square - stabiliser) + 1e-4) / frequencies.shape[0] ** 0.5


def with_ones(v):
    return torch.cat([v, torch.ones_like(v[..., :1])], -1)


def divided(sums):
    return sums[..., :-1] / sums[..., -1:]


def causal_attention(q, k, v):
    """Sums over earlier chunks by a running state, within a chunk by a masked product."""
    v = with_ones(v)
    q, k, v = (x.unflatten(2, (-1, CHUNK)) for x in (q, k, v))
    chunk_sums = k.transpose(-1, -2) @ v
    before = chunk_sums.cumsum(2) - chunk_sums
    within = torch.tril(q @ k.transpose(-1, -2)) @ v
    return divided((within + q @ before).flatten(2, 3))


def bidirectional_attention(q, k, v):
    return divided(q @ (k.transpose(-1, -2) @ with_ones(v)))


class Attention(nn.Module):
    """Exact attention, or linear attention over positive features."""

    def __init__(self, mixer, width, heads, m, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.frequencies = nn.Parameter(orthogonal_frequencies(m, width // heads)) if mixer == "linear" else None

    def forward(self, x):
        q, k, v = self.inputs(x).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.frequencies is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            q = positive_features(q, self.frequencies, (-1,))
            k = positive_features(k, self.frequencies, (-2, -1))
            y = causal_attention(q, k, v) if self.causal else bidirectional_attention(q, k, v)
        return self.output(y.transpose(1, 2).flatten(2))


def make_mixer(mixer, width, heads, m, length, causal):
    if mixer == "gla":
        return GatedLinearAttention(width, heads, m, positive_features)
    if mixer == "delta":
        return DeltaRule(width, heads, m, positive_features)
    if mixer == "mamba2":
        return Mamba2(width, heads)
    if mixer == "rwkv7":
        return Rwkv7(width, heads)
    if mixer == "log_linear":
        return LogLinearAttention(width, heads, m, positive_features)
    if mixer == "hyena":
        return Hyena(width, length)
    if mixer == "s5":
        return S5(width, states=width // 2)
    return Attention(mixer, width, heads, m, causal)


class Block(nn.Module):
    def __init__(self, mixer, width, heads, m, hidden, length, causal):
        super().__init__()
        self.mixer = make_mixer(mixer, width, heads, m, length, causal)
        self.mixer_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        x = x + self.mixer(self.mixer_norm(x))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Model(nn.Module):
    """Language model, or sequence classifier where there are classes; returns its loss."""

    def __init__(self, mixer, width, heads, m, blocks, hidden, vocabulary, length, batch, classes):
        super().__init__()
        self.classifies = classes > 0
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.positions = nn.Parameter(0.02 * torch.randn(length, width))
        self.blocks = nn.Sequential(
            *(Block(mixer, width, heads, m, hidden, length, causal=not self.classifies) for _ in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes or vocabulary)

    def forward(self, tokens, targets):
        x = self.norm(self.blocks(self.embedding(tokens) + self.positions))
        if self.classifies:
            return F.cross_entropy(self.head(x.mean(1)), targets)
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())


class FourierSeriesTime(nn.Module):
    """Mercer encoding: of each base frequency a constant and the waves of its harmonics, with learned amplitudes."""

    def __init__(self, frequencies, harmonics):
        super().__init__()
        self.log_frequency = nn.Parameter(math.log(2 * math.pi) - torch.linspace(0, math.log(1e4), frequencies))
        self.amplitude = nn.Parameter(torch.ones(frequencies, 1 + 2 * harmonics))
        self.register_buffer("orders", torch.arange(1.0, harmonics + 1))

    def forward(self, times):
        phases = times[..., None, None] * (self.log_frequency.exp()[:, None] * self.orders)
        waves = torch.cat([torch.ones_like(phases[..., :1]), phases.cos(), phases.sin()], -1)
        return (waves * self.amplitude).flatten(-2)


class EventModel(nn.Module):
    """Types of the next events from types and times; returns its loss."""

    def __init__(self, mixer, width, heads, m, blocks, hidden, vocabulary, length, batch, classes):
        super().__init__()
        self.embedding, self.time = nn.Embedding(vocabulary, width), FourierSeriesTime(8, 4)
        self.mix = nn.Linear(width + 72, width)
        self.blocks = nn.Sequential(*(Block(mixer, width, heads, m, hidden, length, True) for _ in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, types, times, targets):
        x = self.mix(torch.cat([self.embedding(types), self.time(times)], -1))
        return F.cross_entropy(self.head(self.norm(self.blocks(x))).flatten(0, 1), targets.flatten())


def waves(places, frequencies):
    """(N, d), (m, d) -> (N, 2m)"""
    phases = 2 * math.pi * places @ frequencies.T
    return torch.cat([phases.sin(), phases.cos()], -1)


class FieldModel(nn.Module):
    """Pixels of frames as tokens under W [PE_space; PE_time] with learned frequencies, attention in both directions;
    returns the mean squared error of what is read from every frame."""

    def __init__(self, size, frequencies, width, heads, m, blocks, hidden):
        super().__init__()
        self.space, self.time = nn.Parameter(torch.randn(frequencies, 2)), nn.Parameter(torch.randn(frequencies, 1))
        self.fuse = nn.Linear(4 * frequencies, width, bias=False)
        self.input, self.head = nn.Linear(1, width), nn.Linear(width, 1)
        self.blocks = nn.Sequential(*(Block("linear", width, heads, m, hidden, size**3, causal=False) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        axis = torch.arange(size) / size
        self.register_buffer("places", torch.cartesian_prod(axis, axis))
        self.register_buffer("times", axis[:, None])

    def encoding(self):
        space, time = waves(self.places, self.space), waves(self.times, self.time)
        space = space.expand(len(time), -1, -1)
        return self.fuse(torch.cat([space, time[:, None].expand(-1, space.shape[1], -1)], -1)).flatten(0, 1)

    def forward(self, frames, targets):
        x = self.input(frames.flatten(1)[..., None]) + self.encoding()
        return F.mse_loss(self.head(self.norm(self.blocks(x))).flatten(1), targets.flatten(1))


def make_field(size, frequencies, width, heads, m, blocks, hidden, batch):
    frames = torch.randn(2, batch, size, size, size)
    return FieldModel(size, frequencies, width, heads, m, blocks, hidden), (frames[0], frames[1])


def random_batch(vocabulary, length, batch, classes, events):
    tokens = torch.randint(vocabulary, (batch, length))
    if events:
        return tokens, 100 * torch.rand(batch, length).cumsum(1), torch.randint(vocabulary, (batch, length))
    return tokens, torch.randint(classes, (batch,)) if classes else torch.randint(vocabulary, (batch, length))


def compiled_for():
    """The bits of the vectors in compiled code and what the compiler's -march is; none where PyTorch does not say."""
    from torch._inductor import config
    try:
        from torch._inductor.cpu_vec_isa import pick_vec_isa
    except ImportError:
        return {}
    return {"vector_bits": pick_vec_isa().bit_width(), "march": getattr(config.cpp, "march", None)}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("model", choices=[*MODELS, *FIELDS])
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--predict", action="store_true")
    arguments.add_argument("--autocast", action="store_true")
    arguments.add_argument("--compile", action="store_true")
    chosen = arguments.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    if chosen.model in FIELDS:
        model, batch = make_field(*FIELDS[chosen.model])
    else:
        shape = MODELS[chosen.model]
        events = chosen.model == "time-events"
        model, batch = (EventModel if events else Model)(*shape), random_batch(*shape[-4:], events)
    compiled = torch.compile(model) if chosen.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)

    def loss_of(*batch):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=chosen.autocast):
            return compiled(*batch)

    def train():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*batch)
        loss.backward()
        optimizer.step()
        return loss

    @torch.inference_mode()
    def predict():
        return loss_of(*batch)

    step = predict if chosen.predict else train

    def milliseconds_of_a_step():
        start = time.perf_counter()
        step()
        return 1e3 * (time.perf_counter() - start)

    def answer(**values):
        print(json.dumps(values), flush=True)

    losses = [step().item() for _ in range(UNCOUNTED)]
    answer(model=chosen.model, params=sum(p.numel() for p in model.parameters()), torch=torch.__version__,
           backend=torch.backends.mkl.is_available() and "MKL" or "own", isa=torch.backends.cpu.get_cpu_capability(),
           loss=losses[2], late_loss=losses[-1], **(compiled_for() if chosen.compile else {}))
    for line in sys.stdin:
        times = [milliseconds_of_a_step() for _ in range(int(line))]
        answer(step_ms=times, rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    main()
