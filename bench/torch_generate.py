#!/usr/bin/env python3
"""Tokens one by one from the models of bench/torch_steps.py with linear attention: the loop that `bochner bench generate` is.

usage: torch_generate.py [MODEL] [--texts N] [--tokens N] [--threads N] [--compile]

The state of a layer is its sums of phi(k) [v, 1]^T; keys are stabilised by a running maximum, in whose unit the sums are
kept. Prints one JSON line: the median time of a step in microseconds and tokens a second of all texts together.
"""
import argparse
import json
import statistics
import time

import torch

import torch_steps


def log_features(x, frequencies):
    """w . y - |y|^2 / 2, y = x / d^(1/4). (N, H, d) -> (N, H, m)"""
    y = x * x.shape[-1] ** -0.25
    return y @ frequencies.T - y.square().sum(-1, keepdim=True) / 2


class Generator(torch.nn.Module):
    """One token of each text after another."""

    def __init__(self, model, texts):
        super().__init__()
        self.model = model
        first = model.blocks[0].mixer
        m, d = first.frequencies.shape
        shape = (len(model.blocks), texts, first.heads)
        self.sums = torch.zeros(*shape, m, d + 1)
        self.units = torch.full((*shape, 1), -1e30)

    def attend(self, layer, mixer, x):
        q, k, v = mixer.inputs(x).unflatten(1, (3, mixer.heads, -1)).unbind(1)
        q, k = log_features(q, mixer.frequencies), log_features(k, mixer.frequencies)
        unit = torch.maximum(self.units[layer], k.amax(-1, keepdim=True))
        kept = torch.exp(self.units[layer] - unit).unsqueeze(-1)
        sums = kept * self.sums[layer] + torch.exp(k - unit).unsqueeze(-1) * torch_steps.with_ones(v).unsqueeze(-2)
        self.sums[layer], self.units[layer] = sums, unit
        q = torch.exp(q - q.amax(-1, keepdim=True))
        return mixer.output(torch_steps.divided((q.unsqueeze(-2) @ sums).squeeze(-2)).flatten(1))

    def forward(self, tokens):
        x = self.model.embedding(tokens)
        for layer, block in enumerate(self.model.blocks):
            x = x + self.attend(layer, block.mixer, block.mixer_norm(x))
            x = x + block.down(torch.nn.functional.gelu(block.up(block.mlp_norm(x))))
        return self.model.head(self.model.norm(x))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model", nargs="?", default="performer-lm")
    arguments.add_argument("--texts", type=int, default=1)
    arguments.add_argument("--tokens", type=int, default=1000)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--compile", action="store_true")
    chosen = arguments.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(1)
    model = torch_steps.Model(*torch_steps.MODELS[chosen.model])
    generator = Generator(model, chosen.texts)
    step = torch.compile(generator) if chosen.compile else generator
    times = []
    with torch.inference_mode():
        for _ in range(chosen.tokens + 20):
            tokens = torch.randint(256, (chosen.texts,))
            start = time.perf_counter()
            step(tokens)
            times.append(time.perf_counter() - start)
    median = statistics.median(times[20:])
    print(json.dumps({"model": chosen.model, "texts": chosen.texts, "threads": chosen.threads, "compiled": chosen.compile,
                      "step_us": 1e6 * median, "tokens_per_s": round(chosen.texts / median)}))


if __name__ == "__main__":
    main()
