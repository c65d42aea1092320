"""Log marginal likelihoods of Gaussian processes and their gradients, by scikit-learn and GPyTorch.

    python3 tests/golden/gp_likelihood.py > tests/golden/gp_likelihood.inc   # needs scikit-learn, gpytorch

Rows and parameters are small binary fractions, so that float and double have the same problem;
tests/layers/gaussian_processes/golden_process_test.cpp repeats the rows. Gradients are with respect to the
logarithms that a GaussianProcess learns: of the frequency scale (one over the length), of variances, and of the
deviation of the noise. scikit-learn uses the logarithms of lengths and variances.
"""
import math

import gpytorch
import numpy as np
import sklearn
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, RationalQuadratic, WhiteKernel

ROWS = 20
X = np.array([[((7 * i) % 20 - 9.5) / 8, ((9 * i + 3) % 20 - 9.5) / 8] for i in range(ROWS)])
Y = np.array([((3 * i) % 7 - 3) / 4 for i in range(ROWS)])
VARIANCE, NOISE = -0.5, -1.25  # logarithms of the variance and of the deviation of the noise
SCALES = [0.25, -0.5]


def show(name, kind, inputs, trend, likelihood, parameters):
    listed = ", ".join(
        '{"%s", {%s}, {%s}}' % (key, ", ".join(map(repr, values)), ", ".join("%.17g" % g for g in slopes))
        for key, values, slopes in parameters
    )
    print('{"%s", "%s", %d, "%s", %.17g, {%s}},' % (name, kind, inputs, trend, likelihood, listed))


def by_scikit_learn(name, kind, shape, inputs=1, trend="none"):
    kernel = ConstantKernel(math.exp(VARIANCE)) * shape + WhiteKernel(math.exp(2 * NOISE))
    logs = []
    if trend == "constant":
        logs = [0.75]
        kernel += ConstantKernel(math.exp(logs[0]))
    if trend == "linear":  # slope (sigma^2 + x x')
        logs = [0.75, -0.25]
        kernel += ConstantKernel(math.exp(logs[1])) * DotProduct(math.exp((logs[0] - logs[1]) / 2))
    model = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(X[:, :inputs], Y)
    likelihood, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    names = [h.name for h in model.kernel_.hyperparameters if not h.fixed for _ in range(h.n_elements)]
    lengths = [g for n, g in zip(names, gradient) if "length_scale" in n]
    variance = gradient[0]
    noise = gradient[names.index(next(n for n in names if "noise_level" in n))]
    parameters = [
        ("density.log_scale", SCALES[:inputs], [-g for g in lengths]),
        ("log_variance", [VARIANCE], [variance]),
        ("log_noise", [NOISE], [2 * noise]),
    ]
    if trend == "constant":
        parameters.append(("log_trend", logs, [gradient[-1]]))
    if trend == "linear":
        sigma = next(g for n, g in zip(names, gradient) if "sigma_0" in n)
        parameters.append(("log_trend", logs, [sigma / 2, gradient[-2] - sigma / 2]))
    show(name, kind, inputs, trend, likelihood, parameters)


class Mixture(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, components):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = gpytorch.kernels.SpectralMixtureKernel(num_mixtures=components)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def by_gpytorch():
    torch.set_default_dtype(torch.float64)
    means, scales, logits = [0.5, 3.0], [-1.0, -0.25], [0.5, -0.5]
    shares = np.exp(logits) / np.sum(np.exp(logits))
    x, y = torch.tensor(X[:, 0]), torch.tensor(Y)
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.Positive())
    model = Mixture(x, y, likelihood, 2)
    kernel = model.covar_module
    kernel.mixture_weights = torch.tensor(math.exp(VARIANCE) * shares)
    kernel.mixture_means = torch.tensor(means).view(2, 1, 1) / (2 * math.pi)
    kernel.mixture_scales = torch.tensor(np.exp(scales)).view(2, 1, 1) / (2 * math.pi)
    likelihood.noise = math.exp(2 * NOISE)
    model.train()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    with gpytorch.settings.fast_computations(False, False, False), gpytorch.settings.cholesky_jitter(0, 0):
        value = objective(model(x), y) * ROWS
    value.backward()

    def slope(raw):  # with respect to the number itself: softplus' = sigmoid
        return (raw.grad / torch.sigmoid(raw)).detach().numpy().reshape(-1)

    by_log_weight = slope(kernel.raw_mixture_weights) * kernel.mixture_weights.detach().numpy()
    by_scale = slope(kernel.raw_mixture_scales) * kernel.mixture_scales.detach().numpy().reshape(-1)
    by_noise = slope(likelihood.noise_covar.raw_noise) * math.exp(2 * NOISE)
    show("mixture", "mixture", 1, "none", value.item(), [
        ("density.mean", means, slope(kernel.raw_mixture_means) / (2 * math.pi)),
        ("density.log_scale", scales, by_scale),
        ("density.logits", logits, by_log_weight - shares * by_log_weight.sum()),
        ("log_variance", [VARIANCE], [by_log_weight.sum()]),
        ("log_noise", [NOISE], [2 * by_noise[0]]),
    ])


length = math.exp(-SCALES[0])
print("// scikit-learn %s, gpytorch %s, double; made by gp_likelihood.py." %
      (sklearn.__version__, gpytorch.__version__))
print("// {name, density, inputs, trend, log likelihood, {{parameter, {values}, {slopes}}, ..}}")
for trend in ("none", "constant", "linear"):
    by_scikit_learn("gaussian " + trend, "gaussian", RBF(length), trend=trend)
by_scikit_learn("gaussian of two", "gaussian", RBF([math.exp(-s) for s in SCALES]), inputs=2)
by_scikit_learn("exponential", "cauchy", Matern(length, nu=0.5))
by_scikit_learn("matern 3/2", "student_t 3", Matern(length, nu=1.5))
by_scikit_learn("matern 5/2", "student_t 5", Matern(length, nu=2.5))
by_scikit_learn("rational quadratic", "laplace", RationalQuadratic(length, alpha=1, alpha_bounds="fixed"))
by_gpytorch()
