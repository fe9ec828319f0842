"""Every estimator and metric of scikit-learn that takes the arrays of a namespace, on GpuArrays and on NumPy's."""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import metrics, preprocessing
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.metrics import pairwise
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators, get_tags

import gpuarray as xp

pytestmark = pytest.mark.filterwarnings("ignore")


def words(text: str) -> list[str]:
    return text.split()


_rng = np.random.default_rng(0)
KINDS = np.arange(48) % 3
X = (_rng.random((48, 5)) + KINDS[:, None] * [0.5, 0, 0.25, 0, 0.75]).astype(np.float32)
TARGET = (X @ [1, 2, 0, -1, 0.5] + 0.1 * _rng.random(48)).astype(np.float32)
KERNEL = X @ X.T

#: Estimators, with what they learn from: the rows' kinds, a number for each, or nothing.
ESTIMATORS: list[tuple[Any, Any]] = [
    (CalibratedClassifierCV(GaussianNB(), method="temperature", cv=3), KINDS),
    (GaussianMixture(n_components=2, init_params="random_from_data", random_state=0), None),
    (GaussianNB(), KINDS),
    (GridSearchCV(Ridge(solver="svd"), {"alpha": [0.1, 1.0]}, cv=3), TARGET),
    (LinearDiscriminantAnalysis(), KINDS),
    (LogisticRegression(solver="lbfgs"), KINDS),
    (LogisticRegression(solver="lbfgs"), KINDS % 2),
    (Nystroem(n_components=6, random_state=0), None),
    (PCA(n_components=3, svd_solver="full"), None),
    (PCA(n_components=3, svd_solver="covariance_eigh", whiten=True), None),
    (PCA(n_components=2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0), None),
    (PoissonRegressor(), TARGET - TARGET.min() + 1),
    (Ridge(solver="svd"), TARGET),
    (RidgeCV(), TARGET),
    (RidgeClassifier(solver="svd"), KINDS),
    (RidgeClassifierCV(), KINDS),
    (FeatureUnion([("scaled", StandardScaler()), ("bits", preprocessing.Binarizer(threshold=0.5))]), None),
    (make_pipeline(StandardScaler(), PCA(n_components=2, svd_solver="full"), Ridge(solver="svd")), TARGET),
    (preprocessing.Binarizer(threshold=0.5), None),
    (preprocessing.KernelCenterer(), None),
    (preprocessing.LabelEncoder(), None),
    (preprocessing.MaxAbsScaler(), None),
    (preprocessing.MinMaxScaler(), None),
    (preprocessing.Normalizer(), None),
    (preprocessing.PolynomialFeatures(degree=2), None),
    (preprocessing.StandardScaler(), None),
]
#: What may be asked of a fitted estimator.
METHODS = ("transform", "inverse_transform", "predict", "predict_proba", "decision_function", "score")

TRUE = KINDS % 2
SCORES = np.clip(0.25 + 0.5 * TRUE + 0.4 * (_rng.random(48) - 0.5), 0.01, 0.99).astype(np.float32)
GUESSED = np.where(_rng.random(48) > 0.75, 1 - TRUE, TRUE)
POSITIVE = (_rng.random(48) + 0.5).astype(np.float32)

#: Metrics by their arguments.
METRICS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        words(
            "accuracy_score balanced_accuracy_score cohen_kappa_score confusion_matrix f1_score hamming_loss "
            "jaccard_score multilabel_confusion_matrix precision_score recall_score zero_one_loss"
        ),
        (TRUE, GUESSED),
    ),
    **dict.fromkeys(
        words(
            "average_precision_score brier_score_loss d2_brier_score d2_log_loss_score det_curve log_loss "
            "precision_recall_curve roc_auc_score roc_curve"
        ),
        (TRUE, SCORES),
    ),
    **dict.fromkeys(
        words(
            "d2_absolute_error_score d2_pinball_score d2_tweedie_score explained_variance_score max_error "
            "mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss "
            "mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance "
            "median_absolute_error r2_score root_mean_squared_error root_mean_squared_log_error"
        ),
        (POSITIVE, SCORES),
    ),
    "fbeta_score": (TRUE, GUESSED),
}
KEYWORDS: dict[str, dict[str, Any]] = {"fbeta_score": {"beta": 0.5}}
PAIRWISE = words(
    "additive_chi2_kernel chi2_kernel cosine_distances cosine_similarity euclidean_distances laplacian_kernel "
    "linear_kernel manhattan_distances paired_cosine_distances paired_euclidean_distances paired_manhattan_distances "
    "pairwise_distances pairwise_distances_argmin pairwise_kernels polynomial_kernel rbf_kernel sigmoid_kernel"
)


@pytest.fixture(autouse=True)
def _dispatch() -> Iterator[None]:
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=["cpu", "wgpu"])
def place(request: pytest.FixtureRequest) -> xp.Device:
    """A device, which is not the default one: results are there only if they follow the arguments."""
    return xp.Device(request.param)


def assert_alike(ours: Any, theirs: Any, place: xp.Device) -> None:
    """Check that a result is equal: on the device if it is an array there."""
    if isinstance(theirs, tuple):
        for one, other in zip(ours, theirs, strict=True):
            assert_alike(one, other, place)
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, xp.GpuArray)
        assert ours.device == place
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=2e-3, atol=2e-3)
    else:
        assert float(ours) == pytest.approx(float(theirs), rel=1e-4, abs=1e-4)


def given(estimator: Any) -> np.ndarray[Any, Any]:
    """Return what an estimator is fitted to."""
    if isinstance(estimator, preprocessing.LabelEncoder):
        return KINDS
    return KERNEL if isinstance(estimator, preprocessing.KernelCenterer) else X


@pytest.mark.parametrize(("estimator", "target"), ESTIMATORS, ids=lambda v: type(v).__name__.replace("ndarray", ""))
def test_estimators(estimator: Any, target: Any, place: xp.Device) -> None:
    host = given(estimator)
    theirs, ours = clone(estimator), clone(estimator)
    there = xp.asarray(host, device=place)
    targets = () if target is None else (target,)
    moved = tuple(xp.asarray(t, device=place) for t in targets)
    theirs.fit(host, *targets)
    ours.fit(there, *moved)
    asked = [name for name in METHODS if hasattr(theirs, name)]
    assert asked
    for name in asked:
        mine, other = (there, *moved), (host, *targets)
        if name == "inverse_transform":
            mine, other = (ours.transform(there),), (theirs.transform(host),)
        elif name != "score":
            mine, other = mine[:1], other[:1]
        result, expected = getattr(ours, name)(*mine), getattr(theirs, name)(*other)
        if isinstance(estimator, LinearDiscriminantAnalysis) and name == "transform":
            result, expected = abs(result), abs(expected)  # singular vectors have arbitrary signs
        assert_alike(result, expected, place)


@pytest.mark.parametrize(("estimator", "target"), [
    (PCA(n_components=3, svd_solver="full"), None),
    (PCA(n_components=3, svd_solver="covariance_eigh"), None),
    (Ridge(solver="svd"), TARGET),
    (GaussianMixture(n_components=2, init_params="random_from_data", random_state=0), None),
    (LinearDiscriminantAnalysis(), KINDS),
], ids=lambda v: type(v).__name__.replace("ndarray", ""))  # fmt: skip
def test_decompositions_do_not_fall_back(estimator: Any, target: Any) -> None:
    there = [xp.asarray(array, device="wgpu") for array in (X, target) if array is not None]
    with xp.using(fallback="error"):
        fitted = clone(estimator).fit(*there)
        for name in ("transform", "predict"):
            if hasattr(fitted, name):
                xp.evaluate(getattr(fitted, name)(there[0]))
    assert xp.stats()["fallbacks"] == 0


def test_fitted_attributes_stay_on_the_device(place: xp.Device) -> None:
    for estimator in (StandardScaler(), PCA(n_components=2, svd_solver="full"), preprocessing.MinMaxScaler()):
        estimator.fit(xp.asarray(X, device=place))
        arrays = [v for v in vars(estimator).values() if hasattr(v, "__array_namespace__")]
        assert len(arrays) >= 3
        assert all(isinstance(a, xp.GpuArray) and a.device == place for a in arrays)


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name: str, place: xp.Device) -> None:
    function, keywords = getattr(metrics, name), KEYWORDS.get(name, {})
    ours = function(*(xp.asarray(a, device=place) for a in METRICS[name]), **keywords)
    assert_alike(ours, function(*METRICS[name], **keywords), place)


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise(name: str, place: xp.Device) -> None:
    function = getattr(pairwise, name)
    ours = function(xp.asarray(X[:12], device=place), xp.asarray(X[12:24], device=place))
    assert_alike(ours, function(X[:12], X[12:24]), place)


def test_model_selection(place: xp.Device) -> None:
    x, y = xp.asarray(X, device=place), xp.asarray(TARGET, device=place)
    split = train_test_split(x, y, test_size=0.25, random_state=0)
    assert_alike(tuple(split), tuple(train_test_split(X, TARGET, test_size=0.25, random_state=0)), place)
    folds = KFold(3)
    ours = cross_val_predict(Ridge(solver="svd"), x, y, cv=folds)
    assert_alike(ours, cross_val_predict(Ridge(solver="svd"), X, TARGET, cv=folds), place)


def test_every_estimator_that_declares_support_has_a_case() -> None:
    declared = set()
    for name, kind in all_estimators():
        parameters = inspect.signature(kind).parameters
        # those of other estimators declare what these do
        if not {"estimator", "estimators", "transformers", "steps", "transformer_list"} & parameters.keys():
            arguments = (
                ["x"] if any(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters.values()) else []
            )
            declared |= {name} if get_tags(kind(*arguments)).array_api_support else set()
    assert declared <= {type(estimator).__name__ for estimator, _ in ESTIMATORS}
    assert "StandardScaler" in declared
