"""Attention by features: weights phi(q_i) . phi(k_j), times the time kernel.

The product computes these sums in O(T) with a running state; here they are written as matrices over all pairs of
tokens, in O(T^2), where the formula is shorter than the recurrence.
"""
import math

import torch

from .attention import Projections
from .features import tempered
from .parts import form, make, rms_norm
from .softmax import seen
from .time_kernel import TimeKernel, lost


@form("mixer", "linear")
def linear_mixer(at, stack):
    return make("update", at.config["model.mixer.update"], at, stack)


class FeatureMixer(Projections):
    """Common parts of mixers over features."""

    def __init__(self, at, stack):
        super().__init__(at)
        self.causal = stack.causal
        kind, weights = at.config["model.mixer.features.kind"], at.config["model.mixer.features.weights"]
        features = make("features", kind, at / "features")
        if weights != "none":
            features = make("weights", weights, at / "features", features)
        self.features = tempered(at / "features", features)
        self.time_kernel = TimeKernel(at / "time_kernel")

    def turned_features(self, q, k, x, layout):
        turns = self.time_kernel.turns(x, layout)
        return (
            self.features(q, query=True).times(turns),
            self.features(k, query=False).times(turns),
        )


@form("update", "sum")
class LinearMixer(FeatureMixer):
    """y_i = sum_j w_ij v_j / sum_j w_ij, w_ij = phi(q_i) . phi(k_j) exp(-decay), over j <= i where it is
    causal. If weights may be signed, the denominator follows a policy: "clip" raises it to a floor, "smooth" adds a
    constant to the kernel, "norm" leaves it out and norms each head's y by its root mean square. Of the last
    `window` tokens w_ij = exp(q . k / sqrt(d)) exp(-decay)."""

    def forward(self, x, layout):
        q, k, v = super().forward(x, layout)
        policy, constant = (self.config["model.mixer.denominator." + key] for key in ("kind", "constant"))
        f, g = self.turned_features(q, k, x, layout)
        has_signs = not self.features.positive or (self.features.signs and self.time_kernel.per_channel)
        is_signed = has_signs and not f.logarithmic
        if is_signed and policy == "smooth":
            f, g = f.with_constant(math.sqrt(constant)), g.with_constant(math.sqrt(constant))
        if self.time_kernel.per_channel:
            sums = self.by_channel(f, g, v, x, layout, is_signed and policy == "smooth")
        else:
            sums = self.by_pair(f, g, q, k, v, x, layout)
        values, weights = sums[..., :-1], sums[..., -1:]
        if is_signed and policy == "norm":
            return self.join(rms_norm(values))
        if is_signed and policy == "clip":
            weights = weights.clamp(min=self.config["model.mixer.denominator.floor"])
        return self.join(torch.where(weights.abs() < 1e-35, 0, values / torch.where(weights == 0, 1, weights)))

    def by_pair(self, f, g, q, k, v, x, layout):
        """Sums of values and of weights, those of positive features in a unit of each row. (B, T, H, d + 1)"""
        T, window = x.shape[1], self.config["model.mixer.window"]
        sees = seen(x, layout, self.causal)
        rate = self.time_kernel.rate(x, layout)
        loss = 0 if rate is None else lost(rate, T, self.backward_rate(x, layout))
        if f.logarithmic or window:
            logs = log_products(f, g)
            if window:
                t = torch.arange(T, device=x.device)
                near = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(q.shape[-1])
                logs = torch.where(t[:, None] - t < window, near, logs)
            logs = (logs - loss).masked_fill(~sees, -math.inf)
            top = logs.amax(-1, keepdim=True)
            w = (logs - torch.where(top == -math.inf, 0, top)).exp()
        else:
            w = torch.einsum("bihf,bjhf->bhij", f.all(), g.all())
            w = w * torch.exp(-loss) if rate is not None else w
            w = w.masked_fill(~sees, 0)
        return torch.einsum("bhij,bjhd->bihd", w, torch.cat([v, torch.ones_like(v[..., :1])], -1))

    def backward_rate(self, x, layout):
        """Returns the rates of the reversed sequence, where a token's gap is that to the next token."""
        if self.causal:
            return None
        rate = self.time_kernel.rate(x, from_the_end(layout))
        return rate if rate.dim() > 1 else None

    def by_channel(self, f, g, v, x, layout, has_constant):
        """sum_f phi_f(q_i) phi_f(k_j) exp(-decay of channel f), token by token. The constant decays like the
        slowest channel."""
        f, g = plain(f, g)
        v = torch.cat([v, torch.ones_like(v[..., :1])], -1)

        def rate_of(layout):
            rate = self.time_kernel.rate(x, layout)
            if has_constant:
                rate = torch.cat([rate[..., :-1], rate.amin(-1, keepdim=True)], -1)
            return rate.expand(f.shape)

        sums = gated_sums(f, g, v, -rate_of(layout))
        if not self.causal:
            sums = sums + backward_sums(f, g, v, -rate_of(from_the_end(layout)), layout)
        return sums


def from_the_end(layout):
    """Returns the layout of the reversed sequence: each token's gap is that to the next token."""
    if layout.gaps is None:
        return layout
    gaps = torch.cat([layout.gaps[:, 1:], torch.ones_like(layout.gaps[:, :1])], 1)
    if layout.lengths is not None:
        last = (layout.lengths - 1)[:, None] == torch.arange(gaps.shape[1], device=gaps.device)
        gaps = torch.where(last, 1, gaps)
    return type(layout)(layout.lengths, gaps, layout.times)


def log_products(f, g):
    """ln phi(q_i) . phi(k_j), (B, H, T, T); -inf where it is 0."""
    if not f.logarithmic:
        return torch.einsum("bihf,bjhf->bhij", f.all(), g.all()).log()
    a, b = f.all(), g.all()
    top_a, top_b = a.amax(-1, keepdim=True), b.amax(-1, keepdim=True)
    dots = torch.einsum("bihf,bjhf->bhij", (a - top_a).exp(), (b - top_b).exp())
    return dots.log() + top_a[..., 0].transpose(1, 2)[..., :, None] + top_b[..., 0].transpose(1, 2)[..., None, :]


def plain(f, g):
    """Features without logarithms: those of keys relative to the largest of a sequence's head, those of queries to
    their own largest."""
    if not f.logarithmic:
        return f.all(), g.all()
    a, b = f.all(), g.all()
    return (a - a.amax(-1, keepdim=True)).exp(), (b - b.amax((1, 3), keepdim=True)).exp()


def gated_sums(q, k, v, log_decay, itself=True):
    """S_t = diag(exp(log_decay_t)) S_(t-1) + k_t v_t^T, y_t = S_t^T q_t, or without the token itself. q, k, log_decay
    (B, T, H, F), v (B, T, H, d) -> (B, T, H, d)"""
    S, outputs = torch.zeros_like(k[:, 0, ..., None] * v[:, 0, ..., None, :]), []
    for t in range(q.shape[1]):
        before = log_decay[:, t].exp()[..., None] * S
        S = before + k[:, t, ..., None] * v[:, t, ..., None, :]
        outputs.append(((S if itself else before) * q[:, t, ..., None]).sum(-2))
    return torch.stack(outputs, 1)


def backward_sums(q, k, v, log_decay, layout):
    """Runs the recurrence from each sequence's last token to its first, each without itself, to count it only once."""
    turned = (layout.reversed(each) for each in (q, k, v, log_decay))
    return layout.reversed(gated_sums(*turned, itself=False))
