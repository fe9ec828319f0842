"""The price of an Asian call option by Monte Carlo, compared with the formula for the European option.

In a plain loop over days, each iteration draws normal numbers and updates all paths. The bits of the generator are a
function of the position, so they are generated in the kernel that uses them.
"""

from math import erf, exp, log, sqrt
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

import gpuarray as xp


class Option(NamedTuple):
    """A call option: price of the share today, strike, years, interest rate, volatility."""

    spot: float = 100.0
    strike: float = 105.0
    years: float = 1.0
    interest: float = 0.03
    volatility: float = 0.25


def black_scholes(option: Option) -> float:
    """Return the exact price of the European call."""
    spread = option.volatility * sqrt(option.years)
    d1 = log(option.spot / option.strike) + (option.interest + option.volatility**2 / 2) * option.years
    d1 /= spread
    below = [0.5 * (1 + erf(d / sqrt(2))) for d in (d1, d1 - spread)]
    return option.spot * below[0] - option.strike * exp(-option.interest * option.years) * below[1]


def simulate(option: Option, paths: int, days: int, seed: int = 1) -> tuple[xp.GpuArray, xp.GpuArray]:
    """Return the final prices of the share, and their means over the days, of shape (paths,) and dtype float32."""
    generator = xp.random.default_rng(seed)
    step = option.years / days
    drift = (option.interest - option.volatility**2 / 2) * step
    spread = option.volatility * sqrt(step)
    price = xp.full(paths, option.spot, dtype=xp.float32)
    total = xp.zeros(paths, dtype=xp.float32)
    for _ in range(days):
        price = price * xp.exp(drift + spread * generator.standard_normal(paths, dtype=xp.float32))
        total = total + price
    return price, total / days


def value(option: Option, prices: xp.GpuArray) -> tuple[float, float]:
    """Return the mean of the discounted pay-offs, and its standard error."""
    paid = xp.maximum(prices - option.strike, 0) * exp(-option.interest * option.years)
    return float(xp.mean(paid)), float(xp.std(paid)) / sqrt(prices.size)


def main(path: str | Path = "option.webp", paths: int = 400_000, days: int = 64) -> dict[str, float]:
    """Price the option, draw the final prices, and return the results."""
    option = Option()
    last, mean = simulate(option, paths, days)
    xp.evaluate(last, mean)
    european, error = value(option, last)
    asian, _ = value(option, mean)
    exact = black_scholes(option)
    print(f"European {european:.3f} +- {error:.3f} (exact {exact:.3f}), Asian {asian:.3f}")
    figure, axis = plt.subplots(figsize=(6.4, 3))
    for prices, label in ((last, f"at the end: {european:.2f}"), (mean, f"mean of the days: {asian:.2f}")):
        axis.hist(np.asarray(prices), bins=120, range=(40, 220), histtype="stepfilled", alpha=0.6, label=label)
    axis.axvline(option.strike, color="black", linewidth=1)
    axis.set(xlabel="price of the share", ylabel="paths", yticks=())
    axis.legend(title="what the option is worth, if it is paid by the price")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return {"exact": exact, "european": european, "error": error, "asian": asian}


if __name__ == "__main__":
    main()
