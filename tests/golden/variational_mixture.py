"""Coordinate ascent on Bayesian Gaussian mixtures by scikit-learn, from given responsibilities.

    python3 tests/golden/variational_mixture.py > tests/golden/variational_mixture.inc   # needs scikit-learn

Rows and responsibilities are small binary fractions; tests/layers/probability/variational_mixture_test.cpp repeats
them. scikit-learn's lower bound lacks the constants of the prior and the data, so that the test adds them.
"""
import numpy as np
import sklearn
from sklearn.mixture import BayesianGaussianMixture

ROWS, K, ROUNDS = 40, 3, 25
CENTRES = [(0, 0), (3, 0), (0, 3)]
X = np.array([[CENTRES[i % 3][0] + ((7 * i) % 20 - 9.5) / 16, CENTRES[i % 3][1] + ((9 * i + 3) % 20 - 9.5) / 16]
              for i in range(ROWS)])
R = np.array([[(2 if (i + i // 16) % 3 == k else 1) / 4 for k in range(K)] for i in range(ROWS)])


def show(name, kind, concentration):
    model = BayesianGaussianMixture(
        n_components=K, weight_concentration_prior_type=kind, weight_concentration_prior=concentration, reg_covar=0
    )
    model._check_parameters(X)
    model._initialize(X, R)
    bounds = [model._compute_lower_bound(np.log(R), None)]
    for _ in range(ROUNDS):
        _, log_responsibilities = model._e_step(X)
        model._m_step(X, log_responsibilities)
        bounds.append(model._compute_lower_bound(log_responsibilities, None))
    lists = [bounds, model.mean_precision_, model.degrees_of_freedom_, model.means_.ravel(), model.covariances_.ravel()]
    print('{"%s", %g, %s},' % (name, concentration, ", ".join("{%s}" % ", ".join("%.17g" % x for x in xs) for xs in lists)))


print(f"// scikit-learn {sklearn.__version__}, double; made by variational_mixture.py.")
print("// {weights, concentration, {lower bounds}, {strengths}, {degrees}, {means}, {squares over degrees}}")
show("dirichlet", "dirichlet_distribution", 0.5)
show("stick_breaking", "dirichlet_process", 2)
