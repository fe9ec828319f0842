"""Half pi and minimax polynomials of float64. Written by bench/coefficients."""

#: In three parts: products of the first two with a number of quadrants are exact.
HALF_PI = (1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23)
QUADRANTS_PER_RADIAN = 0.6366197723675814
#: The sine is x + x z times the first, the cosine 1 - z / 2 + z z times the second, of z = x x.
#: The highest power comes first.
SINE = (
    1.5896909752403842e-10,
    -2.5050760249187306e-08,
    2.7557313707036013e-06,
    -0.00019841269829857838,
    0.00833333333332249,
    -0.16666666666666632,
)
COSINE = (
    -1.1359941053313152e-11,
    2.0875729402706633e-09,
    -2.755731440181764e-07,
    2.480158728967372e-05,
    -0.0013888888888874476,
    0.0416666666666666,
)
