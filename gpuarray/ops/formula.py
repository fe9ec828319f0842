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


# --- primitives: functions of codegen/math, and NumPy's -------------------------------------------------------------


def _function(name: str, numpy: Callable[..., Any], operands: int = 1) -> Primitive:
    return Primitive(f"{name}_{{T}}({', '.join(f'{{{i}}}' for i in range(operands))})", numpy)


def _split(x: Any) -> Any:
    return (np.asarray(x, np.float64).view(np.uint64) & np.uint64(0xFFFFFFFFF8000000)).view(np.float64)


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    product = np.asarray(a * b, np.float64)
    a_high, b_high = _split(a), _split(b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _expm1_rest(high: Any, low: Any) -> Any:
    return np.expm1(high) - high + low * (1 + high)


def _log_exponent(x: Any) -> Any:
    fraction, exponent = np.frexp(x)
    return exponent - (fraction < 0.7071067811865476)


def _scaled(x: Any, n: Any) -> Any:
    return np.ldexp(x, np.asarray(n).astype(np.int32))


absolute: Final = _function("abs", np.abs)
copysign: Final = _function("copysign", np.copysign, 2)
exp: Final = _function("exp", np.exp)
expm1: Final = _function("expm1", np.expm1)
floor: Final = _function("floor", np.floor)
fmod: Final = _function("fmod", np.fmod, 2)
isfinite: Final = _function("isfinite", np.isfinite)
isinf: Final = _function("isinf", np.isinf)
isnan: Final = _function("isnan", np.isnan)
#: True for zeros alone, while devices that flush subnormal numbers also compare these equal to 0.
is_zero: Final = Primitive("(!truth_{T}({0}))", lambda x: np.equal(x, 0))
#: True for negative numbers, including subnormal ones.
is_negative: Final = Primitive("(order_{T}({0}) < 0)", lambda x: np.less(x, 0))
log: Final = _function("log", np.log)
log1p: Final = _function("log1p", np.log1p)
#: The negative of a number, also of a subnormal one.
negative: Final = _function("negative", np.negative)
rint: Final = _function("rint", np.rint)
signbit: Final = _function("signbit", np.signbit)
sqrt: Final = _function("sqrt", np.sqrt)
#: Operations that are rounded correctly, and neither contracted nor reordered.
divide: Final = _function("divide", np.divide, 2)
add: Final = _function("add", np.add, 2)
subtract: Final = _function("subtract", np.subtract, 2)
multiply: Final = _function("multiply", np.multiply, 2)
#: A product that keeps subnormal factors and results.
gradual_multiply: Final = _function("gradual_multiply", np.multiply, 2)
power: Final = _function("pow", np.power, 2)
opaque: Final = _function("opaque", lambda x: x)
#: Sums and products as the rounded result and its rounding error; ``fast_two_sum`` needs abs(a) >= abs(b).
two_product: Final = _function("two_product", _two_product, 2)
two_sum: Final = _function("two_sum", _two_sum, 2)
fast_two_sum: Final = _function("fast_two_sum", lambda a, b: (a + b, b - ((a + b) - a)), 2)
#: exp(high + low) - 1 - high for abs(high) <= log(2)/2.
expm1_rest: Final = _function("expm1_rest", _expm1_rest, 2)
#: x = 2**k * (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
log_exponent: Final = _function("log_exponent", _log_exponent)
log_fraction: Final = _function("log_fraction", lambda x, k: np.ldexp(x, -k) - 1, 2)
#: sin(high + low) and cos(high + low) for abs(high) <= pi/4.
sin_reduced: Final = _function("sin_reduced", lambda high, low: np.sin(high) + low * np.cos(high), 2)
cos_reduced: Final = _function("cos_reduced", lambda high, low: np.cos(high) - low * np.sin(high), 2)
#: x * 2**n, rounded once, for a real number n with an integral value.
scaled: Final = Primitive("ldexp_{T}({0}, i32({1}))", _scaled)
#: x * 2**n for an integer n.
shifted: Final = Primitive("ldexp_{T}({0}, {1})", _scaled)
#: An integer as a real number.
real: Final = Primitive("{T}({0})", lambda k: np.asarray(k, np.float64))
infinity: Final = Primitive("infinity_{T}()", lambda: np.float64(np.inf))
nan: Final = Primitive("nan_{T}()", lambda: np.float64(np.nan))
