"""Common parts of all layers: their tensors by name, and the smallest layers.

Shapes: B sequences, T tokens, D channels, H heads of d = D / H channels, m frequencies, F features. Rows are
vectors, so that a linear map is y = x W + b with W (in, out).
"""
import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, silu

forms = {}


def form(role, *names):
    """Decorates a class with its name in configs: @form("mixer", "softmax")."""

    def keep(made):
        for name in names:
            forms[role, name] = made
        return made

    return keep


def make(role, name, *arguments):
    """Returns the part that a config names."""
    return forms[role, name](*arguments)


def make_time(at, dim=None):
    """Returns the config's encoding of times: a named one, or one by a density."""
    kind = at.config["model.time.kind"]
    return make("time", kind if ("time", kind) in forms else "density", at, dim)


class Place:
    """The tensors of a file below a name, `at / "query"` for the next level, and the config of its run."""

    def __init__(self, file, name=""):
        self.file, self.name = file, name
        self.config, self.sizes = file.config, file.sizes

    def __truediv__(self, name):
        return Place(self.file, f"{self.name}{name}.")

    def has(self, name):
        name = self.name + name
        return any(each == name or each.startswith(name + ".") for each in self.file.tensors)

    def take(self, name):
        """Returns the tensor of this name, or None."""
        self.file.taken.add(self.name + name)
        return self.file.tensors.get(self.name + name)

    def count(self, name):
        """Returns the number of parts name.0, name.1, ..."""
        count = 0
        while self.has(f"{name}.{count}"):
            count += 1
        return count


class Part(nn.Module):
    """A layer with the tensors of a file below its name: `learned` ones, and `fixed` ones that are not trained."""

    learned = fixed = ()

    def __init__(self, at):
        super().__init__()
        self.place, self.config, self.sizes = at.name, at.config, at.sizes
        for name in self.learned:
            value = at.take(name)
            self.register_parameter(name, None if value is None else nn.Parameter(value))
        for name in self.fixed:
            self.register_buffer(name, at.take(name))


def tensors_of(model):
    """Returns all tensors by their names in the file."""
    return {
        part.place + name: getattr(part, name)
        for part in model.modules()
        if isinstance(part, Part)
        for name in (*part.learned, *part.fixed)
        if getattr(part, name) is not None
    }


class Linear(Part):
    """y = x W + b, W (in, out)."""

    learned = ("weight", "bias")

    def forward(self, x):
        return x @ self.weight + self.bias


class Embedding(Part):
    """Rows of W (V, D)."""

    learned = ("weight",)

    def forward(self, indices):
        return self.weight[indices]


def label_loss(config, logits, labels, smoothing=0):
    """Mean cross entropy of the labels that are not -1, in nats, also for the losses with noise tokens, which only
    train: "nce" and "sampled_softmax". (.., C), (..) -> ()"""
    kind = config.get("model.loss", "mse")
    if kind not in ("mse", "cross_entropy", "nce", "sampled_softmax"):
        raise NotImplementedError(f'the loss "{kind}" is of the program that trained this model; write it in PyTorch')
    return cross_entropy(logits, labels.long(), ignore_index=-1, label_smoothing=smoothing)


def rms_norm(x, epsilon=1e-6):
    """x / sqrt(mean x^2 + epsilon) over the last axis."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)


def layer_norm(x, epsilon=1e-5):
    """(x - mean) / sqrt(variance + epsilon) over the last axis, the variance divided by its size."""
    x = x - x.mean(-1, keepdim=True)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)


class LayerNorm(Part):
    learned = ("gain", "bias")

    def forward(self, x):
        return layer_norm(x) * self.gain + self.bias


class RMSNorm(Part):
    learned = ("gain",)

    def forward(self, x):
        return rms_norm(x) * self.gain


class BatchNorm(Part):
    """Batch norm by the running moments of training, (x - mean) / sqrt(variance + 1e-5) gain + bias of each channel."""

    learned, fixed = ("gain", "bias"), ("mean", "variance")

    def forward(self, x):
        return (x - self.mean) * torch.rsqrt(self.variance + 1e-5) * self.gain + self.bias


def norm(at):
    return {"layer": LayerNorm, "rms": RMSNorm, "batch": BatchNorm}[at.config["model.norm"]](at)


class MLP(Part):
    """gelu: gelu(x U + a) V + b with the exact gelu, x Phi(x). swiglu: (p silu(r)) V + b, [p, r] = x U + a."""

    def __init__(self, at):
        super().__init__(at)
        self.up, self.down = Linear(at / "up"), Linear(at / "down")

    def forward(self, x):
        y = self.up(x)
        if self.config["model.mlp"] == "gelu":
            return self.down(gelu(y))
        value, gate = y.chunk(2, -1)
        return self.down(value * silu(gate))


class GatedOutput(Linear):
    """p sigmoid(r), [p, r] = gelu(x) W + b."""

    def forward(self, x):
        value, gate = super().forward(gelu(x)).chunk(2, -1)
        return value * torch.sigmoid(gate)


class ShortConvolution(Part):
    """x_t + sum_j w_j x_(t-j) + b of each channel, j < K: w (K, D). Without weights x."""

    learned = ("weight", "bias")

    def forward(self, x):
        if self.weight is None:
            return x
        y = x + self.bias
        for j, w in enumerate(self.weight):
            y = y + w * nn.functional.pad(x, (0, 0, j, 0))[:, : x.shape[1]]
        return y


class Layout:
    """Layout of tokens: lengths (B) of sequences that end in padding, gaps (B, T) to
    the token before, times (B, T). None: no padding, distances of 1, no times."""

    def __init__(self, lengths=None, gaps=None, times=None):
        self.lengths, self.gaps, self.times = lengths, gaps, times
        self.first_values = None  # of the first block, for model.value_residual

    def exists(self, x):
        """Returns the mask of tokens that are not padding: (B, T)."""
        B, T = x.shape[:2]
        if self.lengths is None:
            return torch.ones(B, T, dtype=torch.bool, device=x.device)
        return torch.arange(T, device=x.device) < self.lengths[:, None]

    def without_padding(self, x):
        return x * self.exists(x).reshape(*x.shape[:2], *[1] * (x.dim() - 2))

    def reversed(self, x):
        """Reverses each sequence, with padding still at its end."""
        B, T = x.shape[:2]
        t = torch.arange(T, device=x.device).expand(B, T)
        lengths = torch.full((B, 1), T, device=x.device) if self.lengths is None else self.lengths[:, None]
        rows = torch.where(t < lengths, lengths - 1 - t, t)
        return torch.stack([sequence[row] for sequence, row in zip(x, rows)])


def scan(decay, x):
    """h_t = decay_t h_(t-1) + x_t from h = 0. decay (n) or (B, T, n), x (B, T, n) -> (B, T, n)"""
    decay = decay.expand(x.shape)
    h, states = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        h = decay[:, t] * h + x[:, t]
        states.append(h)
    return torch.stack(states, 1)


def convolve(x, kernel, future=0):
    """y_t = sum_i kernel_i x_(t - i + future) of each channel, tokens outside being 0, by Fourier transforms.
    x (B, T, D), kernel (L, D) -> (B, T, D)"""
    T, n = x.shape[1], x.shape[1] + len(kernel)
    spectrum = torch.fft.rfft(x, n, dim=1) * torch.fft.rfft(kernel, n, dim=0)
    return torch.fft.irfft(spectrum, n, dim=1)[:, future : future + T]
