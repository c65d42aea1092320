"""Hessian-vector products of a small classifier, computed by PyTorch in double precision.

    python3 tests/golden/hessian.py > tests/golden/hessian.inc     # needs torch

tests/autodiff/forward_mode_test.cpp repeats the model: layer norm, gelu, cross entropy. Element i of
array k is a sine, so that both sides have the same numbers.
"""
import torch

torch.set_default_dtype(torch.float64)
SHAPES = [(3,), (3,), (3, 4), (4,), (4, 3), (3,)]


def waves(shape, k, phase):
    n = torch.Size(shape).numel()
    return torch.sin(torch.arange(n) * 1.7 + k * 0.9 + phase).reshape(shape)


def loss(gain, bias, up, up_bias, down, down_bias):
    x = waves((5, 3), 7, 0.3)
    h = torch.nn.functional.layer_norm(x, (3,), gain, bias, 1e-5)
    logits = torch.nn.functional.gelu(h @ up + up_bias) @ down + down_bias
    return torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2, 1, 1, 0]))


parameters = tuple(waves(s, k, 0.1) for k, s in enumerate(SHAPES))
directions = tuple(waves(s, k, 2.5) for k, s in enumerate(SHAPES))
gradient = torch.func.grad(loss, argnums=tuple(range(len(SHAPES))))
_, products = torch.func.jvp(gradient, parameters, directions)
for product in products:
    print("{" + ", ".join(repr(float(x)) for x in product.flatten()) + "},")
