"""Determinants of LU factors: products whose exponents have a number of their own, so that none overflows."""

from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers

#: The logarithm of the power of two that is the unit of exponents.
_LN_UNIT = 22.18070977791824990135


def determinant(
    builder: Builder, factors: Matrix, pivots: StepBuffer, sign: Matrix | None, size: Matrix | None
) -> None:
    """Write the determinant of factors; with ``size`` its sign, and the logarithm of its absolute value."""
    numbers = Numbers(builder.dtype)

    def write(template: Template) -> None:
        _write_product(template, numbers, factors, pivots)
        if size is not None:
            _write_logarithm(template, numbers, sign, size)
        elif sign is not None:
            _write_number(template, numbers, sign)

    values = {"rows": factors.rows, **where("a", factors)}
    key = ("determinant", sign is not None, size is not None)
    builder.run(key, "determinant", write, values, builder.batch)


def _write_product(template: Template, numbers: Numbers, factors: Matrix, pivots: StepBuffer) -> None:
    """Write the ``product`` of the diagonal with the sign of the interchanges; only one invocation goes on."""
    kernel, real = template.kernel, numbers.real
    kernel.workgroup = 64
    access, rows_of = template.bind(factors.buffer, writable=False), template.bind(pivots, writable=False)
    kernel.module += [
        *numbers.functions,
        f"struct Scaled {{ number: {numbers.kind}, exponent: i32 }}",
        # a number with a magnitude near 1, times a power of 2**32
        "fn scaled(x: Scaled) -> Scaled {",
        "var y = x;",
        f"for (var k = 0u; k < 34u && {numbers.size('y.number')} > 65536; k++) "
        f"{{ y.number *= {real}({2.0**-32!r}); y.exponent += 1; }}",
        f"for (var k = 0u; k < 34u && {numbers.size('y.number')} < {2.0**-16!r} "
        f"&& {numbers.size('y.number')} > 0; k++) {{ y.number *= {real}({2.0**32!r}); y.exponent -= 1; }}",
        "return y; }",
        "var<workgroup> parts: array<Scaled, 64>;",
    ]
    template.numbers("rows")
    kernel.line("let plane = block;")
    template.matrix("a")
    kernel.line(
        f"var product = Scaled({numbers.one}, 0);",
        "for (var k = local; k < rows; k += 64u) {",
        f"let factor = scaled(Scaled({access.load(template.index('a', factors, 'k', 'k'))}, 0));",
        f"var number = {numbers.times('product.number', 'factor.number')};",
        f"if (u32({rows_of.load('plane * rows + k')}) != k) {{ number = -number; }}",
        "product = scaled(Scaled(number, product.exponent + factor.exponent));",
        "}",
        "parts[local] = product;",
        "workgroupBarrier();",
        "if (local > 0u) { return; }",
        "for (var other = 1u; other < min(rows, 64u); other++) {",
        f"let number = {numbers.times('product.number', 'parts[other].number')};",
        "product = scaled(Scaled(number, product.exponent + parts[other].exponent));",
        "}",
    )


def _write_number(template: Template, numbers: Numbers, target: Matrix) -> None:
    real = numbers.real
    template.kernel.line(
        # beyond forty powers of 2**32 every number is infinite, or zero
        "product.exponent = clamp(product.exponent, -40, 40);",
        f"for (; product.exponent > 0; product.exponent--) {{ product.number *= {real}({2.0**32!r}); }}",
        f"for (; product.exponent < 0; product.exponent++) {{ product.number *= {real}({2.0**-32!r}); }}",
        template.bind(target.buffer, writable=True).store("plane", "product.number"),
    )


def _write_logarithm(template: Template, numbers: Numbers, sign: Matrix | None, size: Matrix) -> None:
    kernel, real = template.kernel, numbers.real
    absolute = f"hypot_{real}(product.number.x, product.number.y)" if numbers.is_complex else "abs(product.number)"
    logarithm = f"log_{real}(magnitude) + {real}({_LN_UNIT!r}) * {real}(product.exponent)"
    logs = template.bind(size.buffer, writable=True)
    kernel.line(f"let magnitude = {absolute};", logs.store("plane", logarithm))
    if sign is None:
        return
    one, minus_one = f"{real}(1)", f"{real}(-1)"
    # an infinite number has a sign, but no quotient; NumPy's has none if it is complex
    phase = "product.number / magnitude" if numbers.is_complex else f"select({one}, {minus_one}, product.number < 0)"
    kernel.line(
        f"var direction = {phase};",
        f"if (magnitude == 0) {{ direction = {numbers.zero}; }}",
        template.bind(sign.buffer, writable=True).store("plane", "direction"),
    )
