"""Two state spaces between products. Fu et al., "Hungry hungry hippos", 2023."""
from .filters import ExplicitFilter, TwoSidedFilter, filter_of
from .hyena import ManyProjections
from .parts import Linear, Part, convolve, form


@form("mixer", "h3")
class H3Mixer(Part):
    """y = q^T S_diag((S_shift k) v^T) in each head of `channels` channels, with one kernel of S_diag for all products
    of a head; or k (S_shift v)^T ("value")."""

    def __init__(self, at, stack):
        super().__init__(at)
        self.channels, self.shifted = (at.config["model.mixer.h3." + name] for name in ("channels", "shifted"))
        self.projections = ManyProjections(at / "projections", 3)
        self.shift = TwoSidedFilter(at / "shift", lambda place: ExplicitFilter(place, plain=True))
        self.filter = filter_of(at / "filter", "exponential")
        self.output = Linear(at / "output")

    def forward(self, x, layout):
        T, c = x.shape[1], self.channels
        q, k, v = self.projections(x)

        def shift(z):
            return convolve(layout.without_padding(z), *self.shift.kernel(T))

        k, v = (shift(k), v) if self.shifted == "key" else (k, shift(v))
        q, k, v = (each.unflatten(-1, (-1, c)) for each in (q, k, v))  # (B, T, H, c)
        products = (k[..., :, None] * v[..., None, :]).flatten(2)
        kernel, future = self.filter.kernel(T)
        S = convolve(layout.without_padding(products), kernel.repeat_interleave(c * c, 1), future)
        S = S.unflatten(-1, (-1, c, c))
        return self.output((q[..., :, None] * S).sum(-2).flatten(2))
