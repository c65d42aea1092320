"""Matrix memories with exponential gates. Beck et al., "xLSTM", 2024."""
import math

import torch
from torch import nn
from torch.nn.functional import logsigmoid

from .attention import Projections
from .parts import Linear, Part, form, rms_norm
from .softmax import seen


class MlstmDirection(Projections):
    """C_t = f C + e^i v k^T, n_t = f n + e^i k, h = C q / max(|n . q|, 1), q divided by sqrt(d); i = x W + b and
    f = sigmoid(x W' + b') of each head; h is normed by its root mean square in each head, times
    sigmoid(output_gate(x)). As sums over all pairs: weights (q_i . k_j) exp(i_j + sum of ln f over j < t <= i)."""

    shares_values = False
    learned = ("input_gate", "input_bias", "forget_gate", "forget_bias")

    def __init__(self, at):
        super().__init__(at, sees_times=False)
        self.output_gate = Linear(at / "output_gate")

    def forward(self, x, layout):
        q, k, v = super().forward(x, layout)
        i = (x @ self.input_gate + self.input_bias).transpose(1, 2)
        f = logsigmoid(x @ self.forget_gate + self.forget_bias).transpose(1, 2).cumsum(-1)
        logs = f[..., :, None] - f[..., None, :] + i[..., None, :]
        logs = logs.masked_fill(~seen(x, type(layout)(), causal=True), -math.inf)
        unit = logs.amax(-1, keepdim=True)
        w = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(q.shape[-1]) * (logs - unit).exp()
        divisor = torch.maximum(w.sum(-1, keepdim=True).abs(), (-unit).exp()).transpose(1, 2)
        h = rms_norm(torch.einsum("bhij,bjhd->bihd", w, v) / divisor)
        return self.join(h * self.output_gate(x).sigmoid().view_as(h))


@form("mixer", "mlstm")
class MlstmMixer(Part):
    """Adds a second one from the last token to the first if it is not causal."""

    def __init__(self, at, stack):
        super().__init__(at)
        self.directions = nn.ModuleList(
            MlstmDirection(at / "directions" / str(i)) for i in range(1 if stack.causal else 2)
        )

    def forward(self, x, layout):
        y = self.directions[0](x, layout)
        if len(self.directions) == 2:
            y = y + layout.reversed(self.directions[1](layout.reversed(x), layout))
        return y
