"""opt_einsum finds the functions that contract by the name of the package that an array's class is in."""

import numpy as np
import opt_einsum
import pytest

import gpuarray as xp
from gpuarray.testing import TOLERANCES, assert_same

pytestmark = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)

SIZES = {"i": 4, "j": 5, "k": 6, "l": 3, "b": 2}
EXPRESSIONS = [
    "ij,jk->ik",
    "ij,jk,kl->il",
    "ij,kj,kl,li->",
    "bij,bjk->bik",
    "ij->ji",
    "ij->i",
    "ii->i",
    "ii->",
    "i,j->ij",
    "ij,ij->ij",
    "ijk,ilk,kl->jl",
]


def operands(expression):
    generator = np.random.default_rng(0)
    shapes = [tuple(SIZES[name] for name in names) for names in expression.partition("->")[0].split(",")]
    return [generator.random(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_contract(expression, device):
    host = operands(expression)
    computed = opt_einsum.contract(expression, *map(xp.asarray, host))
    assert_same(computed, np.einsum(expression, *host), rtol=TOLERANCES, message=expression)
    assert computed.device == device
    assert xp.stats()["fallbacks"] == 0


def test_expression_is_used_again(device):
    first, second, third = operands("ij,jk,kl")
    contract = opt_einsum.contract_expression("ij,jk,kl->il", first.shape, second.shape, third.shape)
    for factor in (1, 2):
        computed = contract(xp.asarray(first * np.float32(factor)), xp.asarray(second), xp.asarray(third))
        assert_same(computed, factor * first @ second @ third, rtol=TOLERANCES)


def test_constants(device):
    first, second = operands("ij,jk")
    contract = opt_einsum.contract_expression("ij,jk->ik", xp.asarray(first), second.shape, constants=[0])
    assert_same(contract(xp.asarray(second)), first @ second, rtol=TOLERANCES)


def test_shared_intermediates(device):
    first, second, third = (xp.asarray(a) for a in operands("ij,jk,kl"))
    with opt_einsum.shared_intermediates() as cache:
        whole = opt_einsum.contract("ij,jk,kl->il", first, second, third)
        opt_einsum.contract("ij,jk,kl->il", first, second, third)
    assert cache
    assert_same(whole, np.asarray(first) @ np.asarray(second) @ np.asarray(third), rtol=TOLERANCES)


def test_numpys_einsum_takes_a_path(device):
    host = operands("ij,jk,kl->il")
    computed = np.einsum("ij,jk,kl->il", *map(xp.asarray, host), optimize=True)
    assert_same(computed, np.einsum("ij,jk,kl->il", *host), rtol=TOLERANCES)


def test_backend_by_name(device):
    first, second = operands("ij,jk")
    computed = opt_einsum.contract("ij,jk->ik", first, second, backend="gpuarray")
    assert_same(computed, first @ second, rtol=TOLERANCES)
    assert computed.device == device
