"""Generalised exponential features of the softmax kernel: less variance than positive ones."""

from .features import FeatureMap, Features, exponents, project
from .frequencies import Frequencies
from .parts import form


@form("features", "oprf", "saderf", "sderf", "aderf")
class OptimalFeatures(FeatureMap):
    """prod_l (1 - 4 A_l)^(1/4) exp(sum_l A_l w_l^2 + sqrt(1 - 4 A_l) w_l u_l - |u|^2 / 2) / sqrt(m), A = (1 - 1/rho) /
    8 with a learned ln rho of each head (oprf, saderf, aderf) or of each of its dimensions (sderf).

    u = y (oprf), Psi y of queries and y / Psi of keys, Psi = exp(log_psi) (saderf), M y, M = query_matrix (sderf), for
    keys key_matrix (aderf): matrices that were calibrated on data."""

    learned, fixed = ("log_rho", "log_psi"), ("query_matrix", "key_matrix")

    def __init__(self, at):
        super().__init__(at)
        self.frequencies = Frequencies(at)

    def side(self, x, query):
        if self.log_psi is not None:
            return x * (self.log_psi if query else -self.log_psi).exp()
        if self.query_matrix is None:
            return x
        return project(x, self.query_matrix if query or self.key_matrix is None else self.key_matrix)

    def forward(self, x, query):
        w, r = self.frequencies(), (-self.log_rho).exp()  # r = 1 - 8 A, (H, 1, 1) or (H, 1, d)
        A, g = (1 - r) / 8, (1 + r) / 2  # g = 1 - 4 A
        times = 1 if r.shape[-1] > 1 else w.shape[-1]
        offset = (A * w.square()).sum(-1) + g.log().sum(-1) * times / 4
        return Features(exponents(self.side(x, query), w * g.sqrt(), 0.5, offset), True)
