#!/usr/bin/env python3
"""Make domain/tests/data/significance.txt: what SciPy and statsmodels say about tests of significance.

    pip install scipy statsmodels
    scripts/significance_cases.py > domain/tests/data/significance.txt

Each line is the name of a test, what it is given, and the p-values that come out.
"""

import random

import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.multitest import multipletests

CASES = 1_000


def numbers(values):
    return ",".join(f"{float(value):.12g}" for value in values)


def binomial(rng):
    trials = rng.randint(0, rng.choice([8, 60, 1_000]))
    successes, rate = rng.randint(0, trials), rng.choice([0.5, round(rng.uniform(0.01, 0.99), 3)])
    if trials == 0:
        return f"binomial 0 0 {rate} 1.0 1.0"
    p = [float(stats.binomtest(successes, trials, rate, alternative=side).pvalue) for side in ("greater", "less")]
    return f"binomial {successes} {trials} {rate} {p[0]!r} {p[1]!r}"


def fisher(rng):
    most = rng.choice([6, 40, 400])
    table = [rng.randint(0, most) for _ in range(4)]
    p = stats.fisher_exact([table[:2], table[2:]], alternative="greater").pvalue
    return f"fisher {' '.join(map(str, table))} {float(p)!r}"


def mann_whitney(rng):
    most = rng.choice([8, 14, 40])
    tied = rng.random() < 0.4
    draw = (lambda: rng.randint(0, 12)) if tied else (lambda: round(rng.lognormvariate(0, 1), 6))
    shift = rng.choice([0, 0, 1]) if tied else rng.choice([0.0, 0.5])
    first = [draw() for _ in range(rng.randint(1, most))]
    other = [draw() + shift for _ in range(rng.randint(1, most))]
    p = float(stats.mannwhitneyu(first, other, alternative="less", method="auto").pvalue)
    return f"mann_whitney {numbers(first)} {numbers(other)} {1.0 if p != p else p!r}"


def several(rng):
    p_values = [round(rng.random() ** rng.choice([1, 4]), 9) for _ in range(rng.randint(1, 8))]
    by_rate = stats.false_discovery_control(p_values, method="bh")
    by_family = multipletests(p_values, method="holm")[1]
    return f"several {numbers(p_values)} {numbers(by_rate)} {numbers(by_family)}"


rng = random.Random(20261125)
print(f"# SciPy {scipy.__version__}, statsmodels {statsmodels.__version__}; made by scripts/significance_cases.py")
for make in (binomial, fisher, mann_whitney, several):
    for _ in range(CASES):
        print(make(rng))
