"""Long convolutions between gates. Poli et al., "Hyena hierarchy", 2023."""
from .filters import filter_of
from .parts import Linear, Part, ShortConvolution, convolve, form


class ManyProjections(Linear):
    """A linear map to several sequences and a short convolution of all."""

    def __init__(self, at, count):
        super().__init__(at)
        self.convolution, self.count = ShortConvolution(at / "convolution"), count

    def forward(self, x):
        return self.convolution(super().forward(x)).chunk(self.count, -1)


@form("mixer", "hyena")
class HyenaMixer(Part):
    """z <- x_n (h_n * z) for n = 1 .. N from z = v, [v, x_1 .. x_N] projections of x; form "code": z <- x_n (h * z) for
    n = N - 1 .. 1 from z = v x_N. Then a linear map."""

    def __init__(self, at, stack):
        super().__init__(at)
        order, self.gate_last = at.config["model.mixer.hyena.order"], at.config["model.mixer.hyena.form"] == "paper"
        self.filters = order if self.gate_last else order - 1
        self.projections = ManyProjections(at / "projections", order + 1)
        self.filter = filter_of(at / "filter", "implicit", self.filters)
        self.output = Linear(at / "output")

    def forward(self, x, layout):
        z, *gates = self.projections(x)
        kernel, future = self.filter.kernel(x.shape[1])
        kernels = kernel.chunk(self.filters, 1)
        z = z if self.gate_last else z * gates[-1]
        for n, each in enumerate(kernels):
            gate = gates[n if self.gate_last else self.filters - n - 1]
            z = convolve(layout.without_padding(z), each, future) * gate
        return self.output(z)
