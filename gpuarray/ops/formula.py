"""Formulas: elementwise functions that are written once, for kernels and for the host.

A :class:`Formula` is a Python function in a small subset of the language: assignments, ``if``, ``for`` over a range,
``break``, ``return``, conditional expressions, arithmetic, comparisons, and calls of formulas, polynomials and
primitives. Called with arrays, it is interpreted with NumPy in float64. Each element is a lane; at a condition the
lanes are split, and they are merged after it. ``codegen/formulas.py`` writes the same function in WGSL.

Parameters and variables are real numbers of the precision of the kernel unless they have another annotation. A function
with several results returns a tuple of real numbers.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

#: The types of values in formulas. On the host all of them are arrays.
Real: TypeAlias = Any
Integer: TypeAlias = Any
Truth: TypeAlias = Any
Pair: TypeAlias = Any
Triple: TypeAlias = Any

#: Formulas and polynomials by name.
FORMULAS: Final[dict[str, "Formula"]] = {}
POLYNOMIALS: Final[dict[str, "Polynomial"]] = {}

Environment: TypeAlias = dict[str, Any]
Lanes: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Constant:
    """A number with a value for each precision."""

    single: float
    double: float


def constant(single: float, double: float) -> Real:
    """Return a :class:`Constant`, which is a real number in formulas."""
    return Constant(single, double)


@dataclass(frozen=True, eq=False)
class Primitive:
    """A function of ``codegen/math``, with the function that computes it on the host.

    Attributes
    ----------
    wgsl : str
        A template, in which ``{0}``, ``{1}`` are the arguments and ``{T}`` is the floating type.
    numpy : callable
        The function on the host.
    """

    wgsl: str
    numpy: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Return the values on the host."""
        return self.numpy(*arguments)


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A polynomial approximation of a function.

    Attributes
    ----------
    name : str
        A unique name, which is also that of its WGSL function.
    approximates : str
        The function and the interval.
    single, double : tuple of float
        Coefficients for each precision, lowest power first.
    single_lost, double_lost : float
        The rounding error of the lowest coefficient. The sum of the other terms is added to it first.
    """

    name: str
    approximates: str
    single: tuple[float, ...]
    double: tuple[float, ...]
    single_lost: float = 0.0
    double_lost: float = 0.0

    def __post_init__(self) -> None:
        if self.name in POLYNOMIALS:
            raise ValueError(f"polynomial {self.name!r} is declared twice")
        POLYNOMIALS[self.name] = self

    def __call__(self, x: Any) -> Any:
        """Return the values at ``x``, by the coefficients of double precision."""
        first, *others, value = self.double
        for coefficient in reversed(others):
            value = coefficient + x * value
        return first + (self.double_lost + x * value)

    @property
    def first(self) -> Real:
        """The lowest coefficient."""
        return Constant(self.single[0], self.double[0])

    @property
    def lost(self) -> Real:
        """The rounding error of the lowest coefficient."""
        return Constant(self.single_lost, self.double_lost)

    @cached_property
    def slope(self) -> "Polynomial":
        """The polynomial s with ``p(x) = first + lost + x s(x)``, for callers that add the terms as a double word."""
        return Polynomial(f"{self.name}_slope", self.approximates, self.single[1:], self.double[1:])

    @cached_property
    def rest(self) -> "Polynomial":
        """The polynomial r with ``p(x) = first + r(x)``, for callers that add the two as a double word."""
        single = (self.single_lost, *self.single[1:])
        return Polynomial(f"{self.name}_rest", self.approximates, single, (self.double_lost, *self.double[1:]))


class Formula:
    """A function in the language of this module.

    Attributes
    ----------
    name : str
        The name of the function.
    parameters : tuple of str
        The names of the parameters.
    scope : mapping
        The global names of the function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.scope: dict[str, Any] = function.__globals__
        self._function = function
        self.parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        if self.name in FORMULAS:
            raise ValueError(f"formula {self.name!r} is declared twice")
        FORMULAS[self.name] = self

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The syntax tree, which is parsed on first use because parsing all formulas takes 0.1 s."""
        module = ast.parse(textwrap.dedent(inspect.getsource(self._function)))
        tree = module.body[0]
        assert isinstance(tree, ast.FunctionDef)
        return tree

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements, without the docstring."""
        return [s for s in self.tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]

    def __call__(self, *operands: Any) -> Any:
        """Return the values for operands that are one-dimensional arrays of equal length, or numbers."""
        count = max((np.size(x) for x in operands if np.ndim(x)), default=-1)
        if count < 0:
            results = self(*(np.asarray(x)[None] for x in operands))
            return tuple(r[0] for r in results) if isinstance(results, tuple) else results[0]
        if not count:  # one lane is computed to find the dtypes of the results
            results = self(*(np.zeros(1, x.dtype) if np.ndim(x) else x for x in operands))
            return tuple(r[:0] for r in results) if isinstance(results, tuple) else results[:0]
        run = _Run(self.scope, count)
        run.block(self.body, dict(zip(self.parameters, operands, strict=True)), np.arange(count))
        return run.results if len(run.results) > 1 else run.results[0]


class _Run:
    """One call of a formula over lanes."""

    def __init__(self, scope: dict[str, Any], count: int) -> None:
        self.scope = scope
        self.count = count
        self.results: tuple[Any, ...] = ()
        self.broken: list[list[tuple[Environment, Lanes]]] = []

    def block(self, statements: Sequence[ast.stmt], env: Environment, lanes: Lanes) -> tuple[Environment, Lanes]:
        """Run statements for some lanes; return the lanes that continue after them, with their variables."""
        for statement in statements:
            if not len(lanes):
                break
            match statement:
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, self.value(value, env), env)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign(target, self.value(value, env), env)
                case ast.If(test=test, body=body, orelse=orelse):
                    env, lanes = self._branch(self.value(test, env), body, orelse, env, lanes)
                case ast.For(target=ast.Name(id=name), iter=ast.Call(args=bounds), body=body):
                    env, lanes = self._loop(name, [self.value(b, env) for b in bounds], body, env, lanes)
                case ast.Return(value=ast.expr() as value):
                    self._return(self.value(value, env), lanes)
                    return env, lanes[:0]
                case ast.Break():
                    self.broken[-1].append((env, lanes))
                    return env, lanes[:0]
                case _:
                    raise TypeError(f"formulas have no {ast.unparse(statement)}")
        return env, lanes

    def _assign(self, target: ast.expr, value: Any, env: Environment) -> None:
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value if isinstance(target, ast.Tuple) else [value]
        for name, item in zip(names, values, strict=True):
            assert isinstance(name, ast.Name)
            env[name.id] = item

    def _return(self, value: Any, lanes: Lanes) -> None:
        values = value if isinstance(value, tuple) else (value,)
        if not self.results:
            self.results = tuple(np.empty(self.count, np.result_type(v)) for v in values)
        for result, part in zip(self.results, values, strict=True):
            result[lanes] = part

    def _branch(
        self, test: Any, body: list[ast.stmt], orelse: list[ast.stmt], env: Environment, lanes: Lanes
    ) -> tuple[Environment, Lanes]:
        truths = np.broadcast_to(test, lanes.shape)
        if truths.all():
            return self.block(body, env, lanes)
        if not truths.any():
            return self.block(orelse, env, lanes)
        ends = []
        for way, statements in ((np.flatnonzero(truths), body), (np.flatnonzero(~truths), orelse)):
            ends.append(self.block(statements, _taken(env, way), lanes[way]))
        return _joined(ends)

    def _loop(
        self, name: str, bounds: list[Any], body: list[ast.stmt], env: Environment, lanes: Lanes
    ) -> tuple[Environment, Lanes]:
        self.broken.append([])
        for k in range(*bounds):
            env, lanes = self.block(body, {**env, name: k}, lanes)
            if not len(lanes):
                break
        return _joined([*self.broken.pop(), (env, lanes)])

    def value(self, node: ast.expr, env: Environment) -> Any:
        """Return the value of an expression."""
        match node:
            case ast.Name(id=name):
                return env[name] if name in env else _on_host(self.scope[name])
            case ast.Attribute():
                return _on_host(looked_up(node, self.scope))
            case ast.Constant(value=value):
                return value
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](self.value(left, env), self.value(right, env))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _OPERATORS[type(op)](self.value(left, env), self.value(right, env))
            case ast.BoolOp(op=op, values=values):
                first, *others = (self.value(v, env) for v in values)
                for other in others:
                    first = _OPERATORS[type(op)](first, other)
                return first
            case ast.UnaryOp(op=op, operand=operand):
                return _OPERATORS[type(op)](self.value(operand, env))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return np.where(self.value(test, env), self.value(body, env), self.value(orelse, env))
            case ast.Tuple(elts=items):
                return tuple(self.value(item, env) for item in items)
            case ast.Call(func=function, args=arguments):
                return looked_up(function, self.scope)(*(self.value(a, env) for a in arguments))
            case _:
                raise TypeError(f"formulas have no {ast.unparse(node)}")


_OPERATORS: Final[dict[type, Callable[..., Any]]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.USub: np.negative,
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Eq: np.equal,
    ast.NotEq: np.not_equal, ast.And: np.logical_and, ast.Or: np.logical_or, ast.Not: np.logical_not,
}  # fmt: skip


def looked_up(node: ast.expr, scope: dict[str, Any]) -> Any:
    """Return the value of a name or a dotted name in the module of a formula."""
    match node:
        case ast.Name(id=name):
            return scope[name]
        case ast.Attribute(value=value, attr=name):
            return getattr(looked_up(value, scope), name)
        case _:
            raise TypeError(f"formulas have no {ast.unparse(node)}")


def _on_host(value: Any) -> Any:
    """Return a constant in double precision; any other value as it is."""
    return value.double if isinstance(value, Constant) else value


def _taken(env: Environment, way: Lanes) -> Environment:
    return {name: value[way] if np.ndim(value) else value for name, value in env.items()}


def _joined(ends: Iterable[tuple[Environment, Lanes]]) -> tuple[Environment, Lanes]:
    """Return the merged variables and lanes of several groups."""
    there = [(env, lanes) for env, lanes in ends if len(lanes)]
    if not there:
        return {}, np.arange(0)
    if len(there) == 1:
        return there[0]
    names = set.intersection(*(set(env) for env, _ in there))
    env = {}
    for name in names:
        values = [e[name] for e, _ in there]
        if not np.ndim(values[0]) and all(v is values[0] for v in values):
            env[name] = values[0]
        else:
            env[name] = np.concatenate(
                [np.broadcast_to(v, lanes.shape) for v, (_, lanes) in zip(values, there, strict=True)]
            )
    return env, np.concatenate([lanes for _, lanes in there])


def formula(function: Callable[..., Any]) -> Formula:
    """Declare a function as a formula."""
    return Formula(function)
