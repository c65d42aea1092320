#!/usr/bin/env python3
"""Trains a GPT in PyTorch for scripts/hour: exact attention with rotary positions, AdamW with a cosine, bytes.

usage: torch_hour.py FOLDER [--width N] [--blocks N] [--rate R] [--steps N] [--length N] [--batch N] [--dropout P]
       [--threads N] [--compile] [--bfloat16] [--validate N] [--windows N] [--test]

FOLDER holds train, valid and test. Prints a JSON line about itself, one for each of N validations (of --windows windows)
and a last one. Seconds are those of training, without compilation and validation. --test predicts each byte of the test
part once, with at least half a window before it.
"""
import argparse
import contextlib
import json
import math
import pathlib
import time

import torch
from torch import nn
from torch.nn import functional as F

WARM_STEPS = 3  # not counted: compilation and first allocations


def rotary(T, half):
    """Returns cosines and sines of t 10000^(-i / half), (T, half) each."""
    angle = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(half) / half)
    return angle.cos(), angle.sin()


def turned(x, cos, sin):
    """Rotates the pairs (x_i, x_(i + d/2)). (B, H, T, d) -> (B, H, T, d)"""
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm, self.mlp_norm = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.inputs, self.output = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x, cos, sin):
        q, k, v = self.inputs(self.norm(x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(turned(q, cos, sin), turned(k, cos, sin), v, is_causal=True)
        x = x + F.dropout(self.output(y.transpose(1, 2).flatten(2)), self.dropout, self.training)
        return x + F.dropout(self.down(F.gelu(self.up(self.mlp_norm(x)))), self.dropout, self.training)


class GPT(nn.Module):
    """Initialized as in GPT-2: deviation 0.02, and outputs of residuals divided by sqrt(2 blocks). Tied embeddings."""

    def __init__(self, width, blocks, length, dropout):
        super().__init__()
        heads = max(2, width // 64)
        self.embedding = nn.Embedding(256, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(blocks))
        self.norm = nn.LayerNorm(width, bias=False)
        for name, weight in self.named_parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02 / (math.sqrt(2 * blocks) if name.endswith(("output.weight", "down.weight")) else 1))
        cos, sin = rotary(length, width // heads // 2)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens, reduction="mean"):
        """Returns the loss of each token after the first. (B, T + 1) -> mean, or (B T)"""
        x = self.embedding(tokens[:, :-1])
        for block in self.blocks:
            x = block(x, self.cos[: x.shape[1]], self.sin[: x.shape[1]])
        logits = F.linear(self.norm(x), self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten(), reduction=reduction)


def rate_at(step, steps, peak):
    """Returns a linear warm-up over a tenth of the steps, at most 100, then a cosine to a tenth of the peak."""
    warmup = min(100, steps // 10)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup))))


def read(path):
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8).long()


def windows(text, starts, length):
    return torch.stack([text[start : start + length + 1] for start in starts])


class Run:
    def __init__(self, chosen):
        self.chosen, folder = chosen, pathlib.Path(chosen.folder)
        self.train, self.valid, self.test = (read(folder / name) for name in ("train", "valid", "test"))
        self.model = GPT(chosen.width, chosen.blocks, chosen.length, chosen.dropout)
        self.loss_of = torch.compile(self.model) if chosen.compile else self.model
        matrices = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW([{"params": matrices}, {"params": others, "weight_decay": 0.0}], chosen.rate,
                                           betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    def precision(self):
        return torch.autocast("cpu", torch.bfloat16) if self.chosen.bfloat16 else contextlib.nullcontext()

    def step(self, rate):
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        starts = torch.randint(len(self.train) - self.chosen.length, (self.chosen.batch,)).tolist()
        self.optimizer.zero_grad(set_to_none=True)
        with self.precision():
            loss = self.loss_of(windows(self.train, starts, self.chosen.length))
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss

    @torch.inference_mode()
    def mean_loss(self, text, most):
        """Returns nats per byte over windows without overlap, `most` of them at most, evenly spread."""
        length, batch = self.chosen.length, self.chosen.batch
        starts = list(range(0, len(text) - length, length))
        starts = starts[:: max(1, len(starts) // most)]
        self.model.eval()
        with self.precision():
            sums = [self.model(windows(text, starts[i : i + batch], length), "sum").item() for i in range(0, len(starts), batch)]
        self.model.train()
        return sum(sums) / (len(starts) * length)

    @torch.inference_mode()
    def bits_per_byte(self, text):
        """Returns bits per byte of all bytes but the first; each is predicted once, after at least half a window."""
        length, half = self.chosen.length, self.chosen.length // 2
        self.model.eval()
        nats, last = 0.0, len(text) - 1
        with self.precision():
            nats += self.model(text[None, : min(length, last) + 1], "sum").item()
            firsts = range(length, last, half)
            for i in range(0, len(firsts), self.chosen.batch):
                for at in ([first for first in firsts[i : i + self.chosen.batch] if (first + half <= last) == whole]
                           for whole in (True, False)):
                    if at:
                        ends = [min(first + half, last) for first in at]
                        losses = self.model(torch.stack([text[first - half : end + 1] for first, end in zip(at, ends)]), "none")
                        nats += losses.view(len(at), -1)[:, half:].sum().item()
        return nats / math.log(2) / last


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    for name, value in (("width", 128), ("blocks", 4), ("steps", 100), ("length", 256), ("batch", 16), ("threads", 2),
                        ("validate", 0), ("windows", 512), ("seed", 1)):
        arguments.add_argument(f"--{name}", type=int, default=value)
    arguments.add_argument("--rate", type=float, default=1e-3)
    arguments.add_argument("--dropout", type=float, default=0.0)
    for name in ("compile", "bfloat16", "test"):
        arguments.add_argument(f"--{name}", action="store_true")
    chosen = arguments.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    run = Run(chosen)

    def answer(**values):
        print(json.dumps(values), flush=True)

    answer(parameters=sum(p.numel() for p in run.model.parameters()), torch=torch.__version__,
           isa=torch.backends.cpu.get_cpu_capability())
    for _ in range(WARM_STEPS):
        run.step(0.0)
    run.optimizer.state.clear()
    seconds, times = 0.0, []
    every = max(1, chosen.steps // chosen.validate) if chosen.validate else 0
    for step in range(chosen.steps):
        start = time.perf_counter()
        loss = run.step(rate_at(step, chosen.steps, chosen.rate))
        times.append(time.perf_counter() - start)
        seconds += times[-1]
        if every and ((step + 1) % every == 0 or step + 1 == chosen.steps):
            answer(step=step + 1, seconds=seconds, valid=run.mean_loss(run.valid, chosen.windows))
    last = {"step_ms": times, "seconds": seconds, "loss": loss.item()}
    if chosen.test:
        last["bits_per_byte"] = run.bits_per_byte(run.test)
    answer(**last)


if __name__ == "__main__":
    main()
