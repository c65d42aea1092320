"""Reference trajectories of optimizers, computed by PyTorch in double precision.

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
    rows = []
    for step in range(STEPS):
        x = torch.cat([p.detach() for p in parts])
        g = a @ x - b
        for k, (p, (i, j)) in enumerate(zip(parts, PARTS)):
            p.grad = None if gaps and k == 1 and step % 5 == 3 else g[i:j].clone()
        optimizer.step()
        rows.append(torch.cat([p.detach() for p in parts]).tolist())
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
