#!/usr/bin/env python3
"""The marginal likelihood of a Gaussian process with its gradient in GPyTorch: what `bochner bench process` measures.

usage: torch_process.py [--rows N] [--inputs N] [--method exact|cg] [--double] [--threads N]

Prints one JSON line: the median milliseconds of a gradient, the likelihood of a row and the peak of memory. The table is
of the same kind, not of the same numbers. "cg" are GPyTorch's own settings of conjugate gradients; "exact" is a Cholesky
factor. Needs gpytorch.
"""
import argparse
import json
import resource
import statistics
import time

import gpytorch
import torch


def table(rows, inputs, dtype):
    torch.manual_seed(1)
    x = 10 * torch.rand(rows, inputs, dtype=torch.double)
    y = sum(torch.sin((1 - 0.3 * j) * x[:, j]) for j in range(inputs)) / inputs ** 0.5
    return x.to(dtype), (y + 0.1 * torch.randn(rows, dtype=torch.double)).to(dtype)


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ZeroMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=x.shape[1]))
        self.kernel.outputscale, self.kernel.base_kernel.lengthscale = 1.0, 1.0

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=4000)
    arguments.add_argument("--inputs", type=int, default=2)
    arguments.add_argument("--method", choices=["exact", "cg"], default="exact")
    arguments.add_argument("--double", action="store_true")
    arguments.add_argument("--threads", type=int, default=2)
    chosen = arguments.parse_args()
    torch.set_num_threads(chosen.threads)
    dtype = torch.double if chosen.double else torch.float
    x, y = table(chosen.rows, chosen.inputs, dtype)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(dtype)
    model = Process(x, y, likelihood).to(dtype)
    likelihood.noise = 0.01
    model.train()
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    times = []
    with gpytorch.settings.max_cholesky_size(10 ** 9 if chosen.method == "exact" else 0):
        while len(times) < 2 or (sum(times) < 3 and len(times) < 20):
            model.zero_grad()
            start = time.perf_counter()
            value = marginal(model(x), y)
            value.backward()
            times.append(time.perf_counter() - start)
    print(json.dumps({"rows": chosen.rows, "method": chosen.method, "type": str(dtype), "threads": chosen.threads,
                      "gradient_ms": 1e3 * statistics.median(times[1:]), "likelihood": value.item(),
                      "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}))


if __name__ == "__main__":
    main()
