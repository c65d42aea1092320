"""Reference trajectories of optimizers, computed by PyTorch, or from the formulas of papers, in double precision.

    python3 tests/golden/optimizers.py > tests/golden/optimizers.inc     # needs torch

The problem is twelve numbers x = (a 2x3 matrix, a vector of 3, a vector of 3 called time_kernel.rate)
with the gradient g = A x - b. A, b and the start are small binary fractions, so that float and double
have the same problem; tests/optim/optimizer_test.cpp repeats them. In a case with
gaps the second parameter has no gradient at the steps 3, 8, 13, ... counted from 0.
"""
import sys

import torch

N, STEPS = 12, 20
PARTS = [(0, 6), (6, 9), (9, 12)]


def matrix():
    a = torch.zeros(N, N, dtype=torch.float64)
    for i in range(N):
        for j in range(N):
            a[i, j] = ((3 * i + 5 * j) % 7 - 3) / 16 + (1 + i / 4 if i == j else 0)
    return a


def trajectory(make, rates, decays, gaps):
    a = matrix()
    b = torch.tensor([(i % 4 - 1.5) / 2 for i in range(N)], dtype=torch.float64)
    start = torch.tensor([(5 * i % 9 - 4) / 4 for i in range(N)], dtype=torch.float64)
    parts = [torch.nn.Parameter(start[i:j].clone()) for i, j in PARTS]
    groups = [{"params": [p], "lr": r, "weight_decay": d} for p, r, d in zip(parts, rates, decays)]
    optimizer = make(groups)
    shown = getattr(optimizer, "shown", parts)
    rows = []
    for step in range(STEPS):
        x = torch.cat([p.detach() for p in parts])
        g = a @ x - b
        for k, (p, (i, j)) in enumerate(zip(parts, PARTS)):
            p.grad = None if gaps and k == 1 and step % 5 == 3 else g[i:j].clone()
        optimizer.step()
        rows.append(torch.cat([p.detach() for p in shown]).tolist())
    return rows


def sgd(**keywords):
    return lambda groups: torch.optim.SGD(groups, lr=1, foreach=False, **keywords)


def adam(kind, **keywords):
    return lambda groups: kind(groups, lr=1, foreach=False, **keywords)


class Mixed:
    """Muon for the matrix, whose transpose PyTorch keeps, and AdamW for the others."""

    def __init__(self, groups, keywords):
        self.flat = groups[0]["params"][0]
        self.matrix = torch.nn.Parameter(self.flat.detach().view(2, 3).t().clone())
        first = {**groups[0], "params": [self.matrix]}
        self.parts = [torch.optim.Muon([first], **keywords),
                      torch.optim.AdamW(groups[1:], lr=1, betas=(0.9, 0.95), foreach=False)]

    def step(self):
        self.matrix.grad = self.flat.grad.view(2, 3).t()
        for part in self.parts:
            part.step()
        self.flat.data = self.matrix.detach().t().reshape(-1).clone()


def muon(**keywords):
    torch.bfloat16 = torch.float64  # of its iterations
    return lambda groups: Mixed(groups, keywords)


class Lion:
    """Algorithm 2 of Chen et al., "Symbolic discovery of optimization algorithms", 2023."""

    def __init__(self, groups, beta1=0.9, beta2=0.99):
        self.groups, self.betas = groups, (beta1, beta2)
        self.m = [torch.zeros_like(group["params"][0].data) for group in groups]

    def step(self):
        beta1, beta2 = self.betas
        for i, group in enumerate(self.groups):
            w = group["params"][0]
            if w.grad is None:
                continue
            c = beta1 * self.m[i] + (1 - beta1) * w.grad
            w.data = w.data - group["lr"] * (torch.sign(c) + group["weight_decay"] * w.data)
            self.m[i] = beta2 * self.m[i] + (1 - beta2) * w.grad


class ScheduleFree:
    """Algorithm 1 of Defazio et al., "The road less scheduled", 2024, for each parameter by itself."""

    def __init__(self, groups, averaged, warmup=4, beta1=0.75, beta2=0.95, epsilon=1e-8):
        self.groups, self.warmup, self.numbers, self.k = groups, warmup, (beta1, beta2, epsilon), 0
        self.state = []
        for group in groups:
            y = group["params"][0].data
            self.state.append({"x": y.clone(), "z": y.clone(), "v": torch.zeros_like(y), "t": 0, "squares": 0})
        if averaged:
            self.shown = [s["x"] for s in self.state]

    def step(self):
        beta1, beta2, epsilon = self.numbers
        self.k += 1
        for group, s in zip(self.groups, self.state):
            y = group["params"][0]
            if y.grad is None:
                continue
            s["t"] += 1
            s["v"] = beta2 * s["v"] + (1 - beta2) * y.grad ** 2
            mean_square = s["v"] / (1 - beta2 ** s["t"])
            rate = group["lr"] * min(1, self.k / self.warmup)
            s["z"] -= rate * (y.grad / (mean_square.sqrt() + epsilon) + group["weight_decay"] * y.data)
            s["squares"] += rate ** 2
            c = rate ** 2 / s["squares"]
            s["x"] *= 1 - c
            s["x"] += c * s["z"]
            y.data = (1 - beta1) * s["z"] + beta1 * s["x"]


EVEN = [0.03125] * 3
CASES = [
    ("sgd", sgd(), EVEN, [0] * 3, False),
    ("sgd_decay", sgd(), EVEN, [0.125, 0, 0], False),
    ("sgd_momentum", sgd(momentum=0.75), EVEN, [0] * 3, False),
    ("sgd_nesterov", sgd(momentum=0.75, nesterov=True), EVEN, [0.125, 0, 0], True),
    ("adam", adam(torch.optim.Adam), EVEN, [0] * 3, False),
    ("adam_decay", adam(torch.optim.Adam, betas=(0.9, 0.95)), EVEN, [0.125, 0, 0], False),
    ("adamw", adam(torch.optim.AdamW, betas=(0.9, 0.95)), EVEN, [0.125, 0, 0], False),
    ("adamw_gaps", adam(torch.optim.AdamW), EVEN, [0.125, 0, 0], True),
    ("muon", muon(adjust_lr_fn="match_rms_adamw"), EVEN, [0.125, 0, 0], False),
    ("muon_shape", muon(adjust_lr_fn="original", momentum=0.75, nesterov=False, ns_steps=3), EVEN, [0.125, 0, 0], True),
    ("lion", Lion, EVEN, [0.125, 0, 0], True),
    ("schedule_free", lambda groups: ScheduleFree(groups, False), EVEN, [0.125, 0, 0], True),
    ("schedule_free_average", lambda groups: ScheduleFree(groups, True), EVEN, [0.125, 0, 0], True),
    ("adamw_groups", adam(torch.optim.AdamW), [0.03125, 0.03125, 0.0078125], [0.125, 0.25, 0], False),
]


def main():
    print(f"// PyTorch {torch.__version__.split('+')[0]}, double; made by optimizers.py.")
    print("// {name, {x after step 1, x after step 2, ...}}")
    for name, *case in CASES:
        rows = ",\n".join("  {" + ", ".join(f"{v:.17g}" for v in row) + "}" for row in trajectory(*case))
        print(f'{{"{name}", {{\n{rows}}}}},')


if __name__ == "__main__":
    sys.exit(main())
