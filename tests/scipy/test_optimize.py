"""Optimisers of SciPy with functions and derivatives of this package."""

import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse.linalg import LinearOperator

import gpuarray as xp
from gpuarray.scipy import optimize as opt

START = np.array([1.3, 0.7, 0.8])
TIMES = np.linspace(0, 4, 40)
MEASURED = 2.5 * np.exp(-1.3 * TIMES) + 0.5 + 0.05 * np.sin(9 * TIMES)
MATRIX = np.array([[4.0, 1, 0], [1, 3, -1], [0, -1, 5]])
GOAL = np.array([1.0, -2, 3])

rosen_slope = xp.value_and_grad(opt.rosen)
rosen_hessian = xp.hessian(opt.rosen)


def decay(t, height, rate, floor):
    return height * np.exp(-rate * t) + floor


def arrays(value, kind):
    """Return the arrays of a class in a result, in order."""
    if isinstance(value, kind):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [array for item in items for array in arrays(item, kind)]


#: By method of ``minimize``, the derivatives that it takes.
METHODS = {
    "Nelder-Mead": "", "Powell": "", "COBYLA": "", "COBYQA": "", "CG": "j", "BFGS": "j", "L-BFGS-B": "j", "TNC": "j",
    "SLSQP": "j", "Newton-CG": "jh", "dogleg": "jh", "trust-constr": "jh", "trust-exact": "jh", "trust-krylov": "jh",
    "trust-ncg": "jh",
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_minimize(method, device):
    takes = METHODS[method]
    start = np.array([1.2, 1.1, 1.1]) if method == "dogleg" else START
    options = {"hess": rosen_hessian} if "h" in takes else {}
    theirs = {"hess": optimize.rosen_hess} if "h" in takes else {}
    if "j" in takes:
        result = opt.minimize(rosen_slope, xp.asarray(start), jac=True, method=method, **options)
    else:
        result = opt.minimize(opt.rosen, xp.asarray(start), method=method)
    expected = optimize.minimize(
        optimize.rosen, start, jac=optimize.rosen_der if "j" in takes else None, method=method, **theirs
    )
    assert result.success == expected.success
    assert not arrays(result, np.ndarray)
    assert {*result} == {*expected}
    assert isinstance(result.x, xp.ndarray)
    assert result.x.device == xp.zeros(1).device
    np.testing.assert_allclose(result.x.get(), expected.x, rtol=1e-4)
    assert result.fun == pytest.approx(expected.fun, abs=1e-8)
    if method not in ("TNC", "CG"):  # whose steps depend on the rounding of gradients
        assert result.nfev == expected.nfev


def _robust(z):
    return np.stack([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])


@pytest.mark.parametrize(
    "options",
    [{"method": "trf"}, {"method": "dogbox"}, {"method": "lm"}, {"loss": _robust}, {"tr_solver": "lsmr"}],
    ids=lambda options: "-".join(options),
)
def test_least_squares(options, device):
    t, measured = xp.asarray(TIMES), xp.asarray(MEASURED)

    def residuals(p):
        return decay(t, p[0], p[1], p[2]) - measured

    result = opt.least_squares(residuals, xp.ones(3), jac=xp.jit(xp.jacfwd(residuals)), **options)
    expected = optimize.least_squares(
        lambda p: decay(TIMES, *p) - MEASURED,
        np.ones(3),
        jac=lambda p: np.stack([np.exp(-p[1] * TIMES), -p[0] * TIMES * np.exp(-p[1] * TIMES), np.ones(40)], 1),
        **options,
    )
    np.testing.assert_allclose(result.x.get(), expected.x, rtol=1e-6)
    np.testing.assert_allclose(result.jac.get(), expected.jac, rtol=1e-6, atol=1e-9)
    assert result.cost == pytest.approx(expected.cost)
    assert not arrays(result, np.ndarray)


@pytest.mark.parametrize("points", ["ours", "float32", "numpy", "list"])
def test_curve_fit(points, device):
    times = TIMES.astype(np.float32) if points == "float32" else TIMES
    given = {"numpy": np.asarray, "list": list}.get(points, xp.asarray)(times)
    seen = []

    def model(t, height, rate, floor):
        seen.append(t)
        return decay(t, height, rate, floor)

    def jacobian(t, *p):
        return xp.jacfwd(lambda p: decay(t, p[0], p[1], p[2]))(xp.asarray(p))

    for options in ({}, {"jac": jacobian}, {"bounds": (0, xp.asarray([5.0, 5, 5])), "absolute_sigma": True}):
        result = opt.curve_fit(model, given, xp.asarray(MEASURED), sigma=xp.full(40, 0.1), **options)
        host = {name: value for name, value in options.items() if name != "jac"}
        if "bounds" in host:
            host["bounds"] = 0, np.full(3, 5.0)
        expected = optimize.curve_fit(decay, times, MEASURED, sigma=np.full(40, 0.1), **host)
        for ours, theirs in zip(result, expected, strict=True):
            assert isinstance(ours, xp.ndarray)
            np.testing.assert_allclose(ours.get(), theirs, rtol=1e-4, atol=1e-8)
        assert {type(t) for t in seen} == {xp.ndarray}
        assert {t.dtype for t in seen} == {np.dtype(np.float64)}
        assert len({id(t) for t in seen}) == 1  # they go to the device once
        seen.clear()
    for nan_policy in ("raise", "omit"):
        result = opt.curve_fit(model, given, xp.asarray(MEASURED), nan_policy=nan_policy)[0]
        np.testing.assert_allclose(result.get(), optimize.curve_fit(decay, times, MEASURED)[0], rtol=1e-5)
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        opt.curve_fit(decay, xp.full(40, np.nan), MEASURED)


def _linear(x):
    return x @ (MATRIX @ x) / 2 - GOAL @ x


def _system(x):
    return np.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1, 0.5 * (x[1] - x[0]) ** 3 + x[1]])


class _Steps:
    """A step of ``basinhopping`` with a size, which SciPy adapts."""

    def __init__(self):
        self.stepsize, self.random = 0.5, np.random.default_rng(1)

    def __call__(self, x):
        return x + self.random.uniform(-self.stepsize, self.stepsize, x.shape)


def _hopped(o):
    steps = _Steps()
    result = o.basinhopping(
        lambda x: (x**2).sum() + np.cos(5 * x).sum(), np.ones(2), niter=12, interval=3, take_step=steps, rng=1,
        minimizer_kwargs={"method": "L-BFGS-B", "jac": lambda x: 2 * x - 5 * np.sin(5 * x)},
        accept_test=lambda f_new, x_new, **_: abs(x_new).max() < 3,
        callback=lambda x, f, accepted: (f < -9) | (x[0] > 9),
    )  # fmt: skip
    return result, steps.stepsize


#: Each gets SciPy's or our functions, and calls functions that compute with what they get.
CALLS = {
    "minimize, constraints": lambda o: o.minimize(
        _linear, np.zeros(3), method="SLSQP", bounds=[(0, 2)] * 3, jac=lambda x: MATRIX @ x - GOAL,
        constraints=(
            {"type": "ineq", "fun": lambda x, a: a - x.sum(), "jac": lambda x, a: -a / a * x**0, "args": (0.7,)},
        ),
    ),
    "minimize, constraint objects": lambda o: o.minimize(
        _linear, np.full(3, 0.1), method="trust-constr", jac=lambda x: MATRIX @ x - GOAL, hess=lambda x: MATRIX + 0 * x,
        bounds=o.Bounds(np.zeros(3), np.ones(3)),
        constraints=[o.LinearConstraint(np.ones((1, 3)), -1, 1), o.NonlinearConstraint(
            lambda x: x**2, -1, 0.3, jac=lambda x: np.diag(2 * x), hess=lambda x, v: 2 * np.diag(v))],
    ),
    "minimize, products with the Hessian": lambda o: o.minimize(
        _linear, np.zeros(3), jac=lambda x: MATRIX @ x - GOAL, hessp=lambda x, p: MATRIX @ p, method="Newton-CG",
    ),
    "minimize, operator": lambda o: o.minimize(
        _linear, np.zeros(3), jac=lambda x: MATRIX @ x - GOAL, method="trust-constr",
        hess=lambda x: LinearOperator((3, 3), lambda p: MATRIX @ p, dtype=float),
    ),
    "minimize, updates": lambda o: o.minimize(
        _linear, np.zeros(3), jac=lambda x: MATRIX @ x - GOAL, method="trust-constr", hess=o.BFGS(),
    ),
    "minimize, arguments": lambda o: o.minimize(
        lambda x, a, b: ((x - a) ** 2 * b).sum(), np.zeros(3), args=(GOAL, 2.0), method="Nelder-Mead",
        bounds=[(-1, 1)] * 3, options={"initial_simplex": np.eye(4, 3)},
    ),
    "minimize_scalar": lambda o: o.minimize_scalar(lambda x: (x - GOAL[0] * 2) ** 2, bounds=(0, 5)),
    "root": lambda o: o.root(_system, np.zeros(2)),
    "root, Jacobian": lambda o: o.root(lambda x: (x**2 - 4, np.diag(2 * x)), np.ones(2), jac=True, method="lm"),
    "root, elements": lambda o: o.root(lambda x: [x[0] ** 2 - 4, x[1] - 1], np.ones(2)),
    "root, Krylov": lambda o: o.root(lambda x: MATRIX @ x + x**3 - GOAL, np.zeros(3), method="krylov", tol=1e-9),
    "root, sane": lambda o: o.root(_system, np.zeros(2), method="df-sane"),
    "root_scalar": lambda o: o.root_scalar(lambda x: (x**3 - GOAL[2], 3 * x**2), x0=1.0, fprime=True),
    "newton": lambda o: o.newton(lambda x, a: x**3 - a, np.ones(3), lambda x, a: 3 * x**2, (np.array([1.0, 8, 27]),)),
    "newton, secants": lambda o: o.newton(np.cos, 1.0, full_output=True),
    "bisect": lambda o: o.bisect(lambda x: np.exp(x) - GOAL[2], 0, 2),
    "brentq": lambda o: o.brentq(lambda x, a: np.exp(x) - a[2], 0, 2, args=(GOAL,), full_output=True),
    "brenth": lambda o: o.brenth(np.cos, 0, 2),
    "ridder": lambda o: o.ridder(np.cos, 0, 2),
    "toms748": lambda o: o.toms748(np.cos, 0, 2),
    "fixed_point": lambda o: o.fixed_point(lambda x, c: np.sqrt(c / (x + 3)), np.array([1.2, 1.3]), (np.ones(2) * 9,)),
    "approx_fprime": lambda o: o.approx_fprime(np.ones(3), lambda x, a: x * a, 1e-7, GOAL),
    "check_grad": lambda o: o.check_grad(_linear, lambda x: MATRIX @ x - GOAL, np.ones(3)),
    "line_search": lambda o: o.line_search(_linear, lambda x: MATRIX @ x - GOAL, np.zeros(3), GOAL),
    "bracket": lambda o: o.bracket(lambda x: (x - GOAL[2]) ** 2),
    "brent": lambda o: o.brent(lambda x: (x - GOAL[2]) ** 2, full_output=True),
    "golden": lambda o: o.golden(lambda x: (x - GOAL[2]) ** 2),
    "fminbound": lambda o: o.fminbound(lambda x: (x - GOAL[2]) ** 2, 0, 9),
    "brute": lambda o: o.brute(_linear, [(-1, 1)] * 3, Ns=4, full_output=True, finish=partial(o.fmin, xtol=1e-9)),
    "direct": lambda o: o.direct(_linear, [(-2, 2)] * 3, maxfun=400),
    "shgo": lambda o: o.shgo(_linear, [(-2, 2)] * 3, constraints={"type": "ineq", "fun": lambda x: 1 - x.sum()}, n=30),
    "dual_annealing": lambda o: o.dual_annealing(_linear, [(-2, 2)] * 3, maxiter=20, rng=3),
    "differential_evolution": lambda o: o.differential_evolution(
        lambda x: ((x.T - GOAL) ** 2).sum(1), [(-4, 4)] * 3, vectorized=True, updating="deferred", rng=3, maxiter=30,
        callback=lambda intermediate_result: intermediate_result.x[0] > 99,
    ),
    "basinhopping": _hopped,
    "fmin": lambda o: o.fmin(_linear, np.zeros(3), disp=False),
    "fmin_bfgs": lambda o: o.fmin_bfgs(_linear, np.zeros(3), lambda x: MATRIX @ x - GOAL, disp=False, full_output=True),
    "fmin_cg": lambda o: o.fmin_cg(_linear, np.zeros(3), lambda x: MATRIX @ x - GOAL, disp=False, retall=True),
    "fmin_cobyla": lambda o: o.fmin_cobyla(_linear, np.zeros(3), [lambda x: 1 - x.sum()], rhoend=1e-7),
    "fmin_l_bfgs_b": lambda o: o.fmin_l_bfgs_b(lambda x: (_linear(x), MATRIX @ x - GOAL), np.zeros(3)),
    "fmin_ncg": lambda o: o.fmin_ncg(_linear, np.zeros(3), lambda x: MATRIX @ x - GOAL, disp=False),
    "fmin_powell": lambda o: o.fmin_powell(_linear, np.zeros(3), disp=False),
    "fmin_slsqp": lambda o: o.fmin_slsqp(
        _linear, np.zeros(3), [lambda x: x[0] - x[1]], f_ieqcons=lambda x: x, iprint=0,
    ),
    "fmin_tnc": lambda o: o.fmin_tnc(lambda x: (_linear(x), MATRIX @ x - GOAL), np.zeros(3), messages=0),
    "fsolve": lambda o: o.fsolve(_system, np.zeros(2), full_output=True),
    "leastsq": lambda o: o.leastsq(
        lambda p: decay(TIMES, *p) - MEASURED, np.ones(3), full_output=True, col_deriv=True,
        Dfun=lambda p: np.stack([np.exp(-p[1] * TIMES), -p[0] * TIMES * np.exp(-p[1] * TIMES), TIMES**0]),
    ),
    **{
        name: lambda o, name=name: getattr(o, name)(lambda x: MATRIX @ x + 0.1 * x**3 - GOAL, np.zeros(3), f_tol=1e-9)
        for name in ("anderson", "broyden1", "broyden2", "newton_krylov")
    },
    **{
        name: lambda o, name=name: getattr(o, name)(lambda x: 0.2 * (GOAL - MATRIX @ x), np.zeros(3), f_tol=1e-6)
        for name in ("diagbroyden", "excitingmixing", "linearmixing")
    },
    "isotonic_regression": lambda o: o.isotonic_regression(np.array([1.0, 3, 2, 4])),
    "linear_sum_assignment": lambda o: o.linear_sum_assignment(MATRIX),
    "linprog": lambda o: o.linprog(GOAL, A_ub=MATRIX, b_ub=np.ones(3)),
    "lsq_linear": lambda o: o.lsq_linear(MATRIX, GOAL, bounds=(0, 1)),
    "milp": lambda o: o.milp(GOAL, integrality=np.ones(3), constraints=o.LinearConstraint(MATRIX, -5, 5)),
    "nnls": lambda o: o.nnls(MATRIX, GOAL),
    "quadratic_assignment": lambda o: o.quadratic_assignment(MATRIX, MATRIX),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_functions_have_scipys_results(name, device):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result, expected = CALLS[name](opt), CALLS[name](optimize)
    assert type(result) is type(expected) or isinstance(result, xp.ndarray)
    assert not arrays(result, np.ndarray)
    kinds = (xp.ndarray, np.ndarray, np.number, float)
    ours = arrays(result, kinds)
    theirs = arrays(expected, kinds)
    if isinstance(expected, dict) and "execution_time" in expected:
        ours, theirs = (
            arrays([result.x, result.grad, result.v], kinds),
            arrays([expected.x, expected.grad, expected.v], kinds),
        )
    assert ours
    for value, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(value), other, rtol=1e-5, atol=1e-7)


def test_every_function_that_takes_functions_is_called():
    assert {*opt._CALLING} - {name.partition(",")[0] for name in CALLS} == {"curve_fit", "least_squares"}


def test_functions_get_arrays_on_the_device_of_the_arguments():
    seen = []

    def loss(x, weights):
        seen.extend((x, weights, xp.zeros(1)))
        return (weights * x**2).sum()

    pinned = xp.asarray(np.ones(2), device="wgpu")
    with xp.using(device="cpu"):
        result = opt.minimize(loss, pinned, (np.ones(2),), jac=xp.grad(loss), callback=seen.append, method="BFGS")
        assert {value.device for value in seen} == {pinned.device}
        assert result.x.device == result.hess_inv.device == pinned.device
        assert opt.minimize(loss, np.ones(2), (1,)).x.device.kind == "cpu"


def test_functions_do_not_share_memory_with_scipy():
    kept = []
    opt.fmin(lambda x: kept.append(x) or (x**2).sum(), np.ones(2), disp=False)
    assert len({x.get().tobytes() for x in kept}) > len(kept) / 2


@pytest.mark.parametrize("direct", [True, False])
def test_reads_of_results_are_counted_as_transfers(direct):
    with xp.using(device="wgpu", direct_pinned=direct):
        result = opt.minimize(rosen_slope, xp.asarray(START), jac=True, method="L-BFGS-B")
        report = xp.report()
        assert report["transfers"] == {"scipy.optimize.minimize": {"wgpu:0": 1 + 2 * result.nfev}}
        assert all("test_optimize.py" in line for line in report["lines"]["scipy.optimize.minimize"])
        assert not xp.stats()["fallbacks"]
        with xp.using(transfer="error"), pytest.raises(xp.errors.TransferError, match=r"scipy\.optimize\.minimize"):
            opt.minimize(rosen_slope, START, jac=True)
        with xp.using(transfer="warn"), pytest.warns(xp.errors.TransferWarning, match="test_optimize.py") as caught:
            opt.minimize(rosen_slope, START, jac=True)
        assert {warning.filename for warning in caught} == {__file__}


def test_values_and_gradients_are_evaluated_together():
    with xp.using(device="wgpu", direct_pinned=False):
        results = []

        def both(x):
            results.append(rosen_slope(x))
            return results[-1]

        opt.minimize(both, START, jac=True, method="L-BFGS-B", options={"maxiter": 2})
        before = xp.stats()["evaluations"]
        opt.minimize(both, START, jac=True, method="L-BFGS-B", options={"maxiter": 2})
        assert xp.stats()["evaluations"] - before == len(results) // 2


def test_a_method_of_the_user_gets_what_scipy_passes():
    def descend(fun, x0, args=(), jac=None, **_):
        for _ in range(200):
            x0 = x0 - 0.1 * jac(x0)
        return optimize.OptimizeResult(x=x0, fun=fun(x0), success=True)

    result = opt.minimize(_linear, np.zeros(3), jac=lambda x: MATRIX @ x - GOAL, method=descend)
    np.testing.assert_allclose(result.x, np.linalg.solve(MATRIX, GOAL), rtol=1e-6)
    assert isinstance(result.x, xp.ndarray)


def test_functions_of_scipy_are_called_as_they_are(device):
    result = opt.minimize(optimize.rosen, xp.asarray(START), jac=optimize.rosen_der)
    np.testing.assert_allclose(result.x, optimize.minimize(optimize.rosen, START, jac=optimize.rosen_der).x)


def test_errors_of_functions_and_of_scipy_are_raised():
    def fail(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        opt.minimize(fail, np.ones(2))
    with pytest.raises(ValueError, match="Unknown solver spam"):
        opt.minimize(opt.rosen, np.ones(2), method="spam")
    with pytest.raises(TypeError, match="missing a required argument: 'x0'"):
        opt.minimize(opt.rosen)

    def stop(intermediate_result):
        assert isinstance(intermediate_result.x, xp.ndarray)
        raise StopIteration

    assert opt.minimize(opt.rosen, START, callback=stop).nit == 1


def test_optimisers_have_no_derivative():
    with pytest.raises(
        xp.errors.DerivativeError, match=r"optimize\.minimize computes with values on .*test_optimize\.py"
    ):
        xp.grad(lambda c: opt.minimize(lambda x: ((x - c) ** 2).sum(), np.zeros(2)).x.sum())(xp.ones(2))
    with pytest.raises(xp.errors.RecordingError):
        xp.jit(lambda c: opt.minimize(lambda x: ((x - c) ** 2).sum(), np.zeros(2)).x)(xp.ones(2))


def test_functions_run_in_processes():
    code = """if True:
        import numpy as np, gpuarray as xp
        from gpuarray.scipy import optimize
        if __name__ == "__main__":
            with xp.using(device="cpu"):
                found = optimize.differential_evolution(
                    optimize.rosen, [(-1, 1)] * 2, workers=2, updating="deferred", rng=0, maxiter=2, polish=False
                )
            print(found.x.tolist())
    """
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = optimize.differential_evolution(
        optimize.rosen, [(-1, 1)] * 2, updating="deferred", rng=0, maxiter=2, polish=False
    )
    assert finished.stdout == f"{expected.x.tolist()}\n", finished.stderr


@pytest.mark.parametrize("name", ["rosen", "rosen_der", "rosen_hess", "rosen_hess_prod"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("size", [2, 3, 9])
def test_rosenbrock(name, dtype, size, device):
    x = (10 * np.random.default_rng(size).random((2, size))).astype(dtype)
    arguments = x if name == "rosen_hess_prod" else x[:1]
    expected = getattr(optimize, name)(*arguments)
    for recorded in (False, True):
        function = getattr(opt, name)
        result = (xp.jit(function) if recorded else function)(*map(xp.asarray, arguments))
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5, atol=1e-3 if dtype is np.float32 else 1e-9)
    if name == "rosen":
        many = (x.T * [1, 2]).astype(dtype)
        np.testing.assert_allclose(opt.rosen(xp.asarray(many)), optimize.rosen(many), rtol=1e-5)
