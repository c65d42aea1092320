"""Special functions of densities."""
import math

import torch


def log_gamma_quantile(a, z):
    """u = ln x with P(a, x) = Phi(z): the quantile of Gamma(a, 1) at the probability of a normal score, by bisection in
    double on the smaller tail. No gradient reaches a."""
    a, z = torch.broadcast_tensors(a.detach().double(), z.double())
    low, high = torch.full_like(z, -700), torch.full_like(z, 12)
    below = torch.special.ndtr(-z.abs())
    for _ in range(80):
        middle = (low + high) / 2
        x = middle.exp()
        tail = torch.where(z <= 0, torch.special.gammainc(a, x), torch.special.gammaincc(a, x))
        is_less = torch.where(z <= 0, tail < below, tail > below)
        low, high = torch.where(is_less, middle, low), torch.where(is_less, high, middle)
    return (low + high) / 2


def log_bessel_k(order, x):
    """ln K_order(x) for whole and half orders, by the ratios r_v = K_(v+1) / K_v = 1 / r_(v-1) + 2 v / x."""
    if order % 1:
        log_k, ratio, v = (math.log(math.pi / 2) - x.log()) / 2 - x, 1 + 1 / x, 0.5
    else:
        k0, k1 = (f(x) for f in (torch.special.scaled_modified_bessel_k0, torch.special.scaled_modified_bessel_k1))
        log_k, ratio, v = k0.log() - x, k1 / k0, 0
    while v < order:
        log_k, v = log_k + ratio.log(), v + 1
        ratio = 1 / ratio + 2 * v / x
    return log_k
