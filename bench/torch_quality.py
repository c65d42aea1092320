#!/usr/bin/env python3
"""Trains the text recipe of examples/shakespeare-softmax.toml in PyTorch: exact attention with rotary positions and a
short convolution of queries, keys and values. Learned slopes whose time constants start at one token, in place of
rotary positions, are better on it: by 0.02 nats with ours (docs/results.md).

usage: torch_quality.py TEXT [--threads N] [--steps N] [--every N] [--eager]

Prints a JSON line for each validation: steps, seconds of training (neither of compiling nor of validating), and nats per
byte of the tenth of the text that is held out.
"""
import argparse
import json
import math
import pathlib
import time

import torch
from torch import nn
from torch.nn import functional as F

LENGTH, BATCH, WIDTH, HEADS, BLOCKS, TAPS = 256, 16, 128, 4, 4, 4


def rotary(x):
    """The pairs (x_i, x_(i + d/2)) turned by t 10000^(-2i/d). (B, H, T, d) -> (B, H, T, d)"""
    T, half = x.shape[2], x.shape[3] // 2
    angle = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], -1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.mlp_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.inputs, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.taps = nn.Parameter(0.1 * torch.randn(3 * WIDTH, 1, TAPS))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.inputs(self.norm(x))
        y = y + F.conv1d(F.pad(y.transpose(1, 2), (TAPS - 1, 0)), self.taps, groups=3 * WIDTH).transpose(1, 2)
        q, k, v = y.unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(rotary(q), rotary(k), v, is_causal=True)
        x = x + self.output(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, WIDTH)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 256)

    def forward(self, tokens):
        logits = self.head(self.norm(self.blocks(self.embedding(tokens[:, :-1]))))
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def rate(step, steps):
    """Linear to 1e-3 over 100 steps, then a cosine to 1e-4."""
    if step < 100:
        return 1e-3 * (step + 1) / 100
    return 1e-4 + 0.9e-3 * (1 + math.cos(math.pi * (step - 100) / max(1, steps - 100))) / 2


def windows(text, starts):
    return torch.stack([text[start : start + LENGTH + 1] for start in starts])


def validate(model, text):
    starts = range(0, len(text) - LENGTH - 1, LENGTH)
    with torch.inference_mode():
        losses = [model(windows(text, starts[i : i + BATCH])).item() for i in range(0, len(starts) // BATCH * BATCH, BATCH)]
    return sum(losses) / len(losses)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("text")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--steps", type=int, default=1000)
    arguments.add_argument("--every", type=int, default=50)
    arguments.add_argument("--eager", action="store_true")
    chosen = arguments.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(1)
    text = torch.frombuffer(bytearray(pathlib.Path(chosen.text).read_bytes()), dtype=torch.uint8).long()
    held_out = len(text) - len(text) // 10
    model = Model()
    loss_of = model if chosen.eager else torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    def batch():
        return windows(text, torch.randint(held_out - LENGTH - 1, (BATCH,)).tolist())

    loss_of(batch()).backward()  # compiles
    seconds = 0.0
    for step in range(chosen.steps):
        start = time.perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = rate(step, chosen.steps)
        optimizer.zero_grad(set_to_none=True)
        loss_of(batch()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds += time.perf_counter() - start
        if (step + 1) % chosen.every == 0:
            print(json.dumps({"step": step + 1, "seconds": seconds, "loss": validate(model, text[held_out:])}), flush=True)


if __name__ == "__main__":
    main()
