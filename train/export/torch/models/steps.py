"""Continuous systems a step at a time."""
import math

import torch

LOWEST, HIGHEST = math.log(1e-6), math.log(50)


def steps(log_rate, frequency, log_step):
    """z = step (-e^log_rate + i frequency) with real parts clamped to [-50, -1e-6], and step = e^log_step"""
    log_step = log_step.clamp(-30, 15)
    step = log_step.exp()
    rate = (log_rate + log_step).clamp(LOWEST, HIGHEST).exp()
    return torch.complex(-rate, frequency * step), step


def held_gain(z, step):
    """step (e^z - 1) / z, the gain of an input that is held for a step"""
    x, y = z.real.double(), z.imag.double()
    less_one = torch.complex(x.expm1() - 2 * x.exp() * (y / 2).sin().square(), x.exp() * y.sin())
    return (less_one / torch.complex(x, y)).to(z) * step
