"""Formulas in WGSL: the text of each one, and of the polynomials they use, in both precisions.

A variable that is assigned once is a ``let``; any other is declared at the top of its function. Called by the library
of functions. Pure; needs no GPU.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np

from gpuarray.ops.formula import FORMULAS, POLYNOMIALS, Constant, Formula, Polynomial, Primitive, looked_up

_TYPES: Final = {"Real": "{T}", "Integer": "i32", "Truth": "bool", "Pair": "vec2<{T}>", "Triple": "vec3<{T}>"}
_COMPONENTS: Final = "xyz"
_OPERATORS: Final[dict[type, str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=", ast.And: "&&", ast.Or: "||", ast.USub: "-", ast.Not: "!",
}  # fmt: skip


_KINDS: Final = ("f32", "f64")


def is_declared(name: str) -> bool:
    """Return whether ``name`` is that of a formula or polynomial with a precision, as ``erf_f32``.

    Modules of formulas are imported when they are first needed, so the answer may become true later.
    """
    base, _, kind = name.rpartition("_")
    return kind in _KINDS and (base in FORMULAS or base in POLYNOMIALS)


def names() -> frozenset[str]:
    """Return the names of all formulas and polynomials that are declared so far, in each precision."""
    return _names(len(POLYNOMIALS), len(FORMULAS))


@lru_cache(maxsize=1)
def _names(_polynomials: int, _formulas: int) -> frozenset[str]:
    """Return :func:`names`, which change when there are more."""
    return frozenset(f"{name}_{kind}" for kind in _KINDS for name in (*POLYNOMIALS, *FORMULAS))


def text(name: str) -> str:
    """Return the WGSL text of one of :func:`names`."""
    base, _, kind = name.rpartition("_")
    if base in POLYNOMIALS:
        return _polynomial(POLYNOMIALS[base], kind)
    return _Writer(FORMULAS[base], kind).text()


def _literal(value: float, kind: str) -> str:
    return f"{np.float32(value)!s}f" if kind == "f32" else f"{float(value)!r}lf"


def _polynomial(polynomial: Polynomial, kind: str) -> str:
    is_single = kind == "f32"
    first, *others, text = [_literal(c, kind) for c in (polynomial.single if is_single else polynomial.double)]
    lost = polynomial.single_lost if is_single else polynomial.double_lost
    for coefficient in reversed(others):
        text = f"{coefficient} + x * ({text})"
    if lost:
        # a sum that drivers do not regroup: they would add the two constants first
        text = f"add_{kind}({first}, {_literal(lost, kind)} + x * ({text}))"
    else:
        text = f"{first} + x * ({text})"
    return f"fn {polynomial.name}_{kind}(x: {kind}) -> {kind} {{ return {text}; }}"


class _Writer:
    def __init__(self, formula: Formula, kind: str) -> None:
        self.formula = formula
        self.kind = kind
        self.pairs = 0
        names = [
            name.id
            for node in ast.walk(formula.tree)
            for name in ast.walk(node)
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(name, ast.Name)
            and isinstance(name.ctx, ast.Store)
        ]
        self.counts = Counter(names)
        self.variables = {name: "{T}" for name, times in self.counts.items() if times > 1 or name in formula.parameters}
        for node in ast.walk(formula.tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                assert isinstance(node.annotation, ast.Name)
                self.variables[node.target.id] = _TYPES[node.annotation.id]

    def text(self) -> str:
        tree = self.formula.tree
        parameters = ", ".join(f"{a.arg}: {self._type(a.annotation)}" for a in tree.args.args)
        head = f"fn {self.formula.name}_{self.kind}({parameters}) -> {self._type(tree.returns)} {{"
        declared = [f"  var {name}: {self._filled(kind)};" for name, kind in self.variables.items()]
        return "\n".join([head, *declared, *self._block(self.formula.body, "  "), "}"])

    def _type(self, annotation: ast.expr | None) -> str:
        assert isinstance(annotation, ast.Name), f"{self.formula.name} lacks an annotation"
        return self._filled(_TYPES[annotation.id])

    def _filled(self, template: str) -> str:
        return template.replace("{T}", self.kind)

    def _block(self, statements: list[ast.stmt], indent: str) -> Iterator[str]:
        for statement in statements:
            match statement:
                case (
                    ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value)
                ):
                    yield from self._assignment(target, value, indent)
                case ast.If(test=test, body=body, orelse=orelse):
                    yield f"{indent}if ({self._value(test)}) {{"
                    yield from self._block(body, indent + "  ")
                    if orelse:
                        yield f"{indent}}} else {{"
                        yield from self._block(orelse, indent + "  ")
                    yield f"{indent}}}"
                case ast.For(target=ast.Name(id=name), iter=ast.Call(args=bounds), body=body):
                    first, last = [
                        self._integer(b) for b in ([ast.Constant(0), *bounds] if len(bounds) < 2 else bounds)
                    ]
                    yield f"{indent}for (var {name} = {first}; {name} < {last}; {name} = {name} + 1) {{"
                    yield from self._block(body, indent + "  ")
                    yield f"{indent}}}"
                case ast.Return(value=ast.expr() as value):
                    yield f"{indent}return {self._value(value)};"
                case ast.Break():
                    yield f"{indent}break;"
                case _:
                    raise TypeError(f"formulas have no {ast.unparse(statement)}")

    def _assignment(self, target: ast.expr, value: ast.expr, indent: str) -> Iterator[str]:
        if isinstance(target, ast.Tuple):
            whole = f"parts_{self.pairs}"
            self.pairs += 1
            yield f"{indent}let {whole} = {self._value(value)};"
            for name, component in zip(target.elts, _COMPONENTS, strict=False):
                yield f"{indent}{self._stored(name)} = {whole}.{component};"
        else:
            yield f"{indent}{self._stored(target)} = {self._value(value)};"

    def _stored(self, target: ast.expr) -> str:
        assert isinstance(target, ast.Name)
        return target.id if target.id in self.variables else f"let {target.id}"

    def _integer(self, node: ast.expr) -> str:
        return str(node.value) if isinstance(node, ast.Constant) else str(int(float(self._value(node).rstrip("lf"))))

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                value = self.formula.scope.get(name)
                if name in self.counts or name in self.formula.parameters or value is None:
                    return name
                return self._constant(value)
            case ast.Attribute():
                return self._constant(looked_up(node, self.formula.scope))
            case ast.Constant(value=bool() as truth):
                return str(truth).lower()
            case ast.Constant(value=int() as number):
                return str(number)
            case ast.Constant(value=float() as number):
                return _literal(number, self.kind)
            case ast.BinOp(left=left, op=op, right=right):
                return f"({self._value(left)} {_OPERATORS[type(op)]} {self._value(right)})"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return f"({self._value(left)} {_OPERATORS[type(op)]} {self._value(right)})"
            case ast.BoolOp(op=op, values=values):
                return f"({f' {_OPERATORS[type(op)]} '.join(map(self._value, values))})"
            case ast.UnaryOp(op=op, operand=operand):
                return f"({_OPERATORS[type(op)]}{self._value(operand)})"
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"select({self._value(orelse)}, {self._value(body)}, {self._value(test)})"
            case ast.Tuple(elts=items):
                return f"vec{len(items)}<{self.kind}>({', '.join(map(self._value, items))})"
            case ast.Call(func=function, args=arguments):
                return self._call(looked_up(function, self.formula.scope), [self._value(a) for a in arguments])
            case _:
                raise TypeError(f"formulas have no {ast.unparse(node)}")

    def _constant(self, value: Any) -> str:
        if isinstance(value, Constant):
            return _literal(value.single if self.kind == "f32" else value.double, self.kind)
        return _literal(value, self.kind)

    def _call(self, function: Any, arguments: list[str]) -> str:
        if isinstance(function, Primitive):
            return function.wgsl.format(*arguments, T=self.kind)
        assert isinstance(function, Formula | Polynomial)
        return f"{function.name}_{self.kind}({', '.join(arguments)})"
