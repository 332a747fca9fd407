"""Prints model/support/fixed_math_tables.cpp.

Every table row is one segment of a function: the seven coefficients of a polynomial in t, the
place inside the segment from -1/2 to 1/2, lowest power first, rounded to integers of 2^-scale.
The polynomials interpolate at the extrema of a Chebyshev polynomial: near the best possible, exact
at both ends of a segment, so that neighbours meet. The constant is then moved by the few units that
make the integer evaluation exact at the lower end: log2(1) is 0 and 2^0 is 1 to the last bit.
Needs mpmath; only run when a table is to change, and then the pinned draws change too.
"""
from mpmath import mp, mpf, cos, pi, log, erfinv, sqrt, matrix, lu_solve, nint, erfc, exp

mp.prec = 220
DEGREE = 6


def normal_quantile(p):
    """-z for p up to 1/2, so that what is stored is positive: Newton steps on erfc."""
    if p == mpf(1) / 2:
        return mpf(0)
    z = sqrt(-2 * log(p)) if p < 0.02 else -sqrt(mpf(2)) * erfinv(2 * p - 1)
    for _ in range(60):
        tail = erfc(z / sqrt(mpf(2))) / 2
        density = exp(-z * z / 2) / sqrt(2 * pi)
        step = (tail - p) / density
        z += step / (1 - z * step / 2) if abs(z * step) < 1 else step / 2
        if abs(step) < mpf(2) ** -180:
            break
    return z


def evaluate(c, position):
    """What fixed_math.cpp computes, for the place position / 2^64."""
    times = lambda a, b: (a * b) >> 64
    square = times(position, position)
    low = c[0] + times(c[1], position)
    middle = c[2] + times(c[3], position)
    high = c[4] + times(c[5], position) + times(c[6], square)
    return low + times(middle + times(high, square), square)


def row(function, start, width, scale):
    nodes = [-cos(k * pi / DEGREE) / 2 for k in range(DEGREE + 1)]
    a = matrix(DEGREE + 1, DEGREE + 1)
    b = matrix(DEGREE + 1, 1)
    for i, t in enumerate(nodes):
        b[i] = function(start + width * (t + mpf(1) / 2))
        for j in range(DEGREE + 1):
            a[i, j] = t**j
    c = [int(nint(v * mpf(2) ** scale)) for v in lu_solve(a, b)]
    c[0] += int(nint(function(start) * mpf(2) ** scale)) - evaluate(c, -(2**63))
    return c


def segments():
    log2 = lambda x: log(x) / log(mpf(2))
    yield "log2_segments", [row(log2, 1 + mpf(i) / 32, mpf(1) / 32, 58) for i in range(32)]
    exp2 = lambda x: mpf(2) ** x
    yield "exp2_segments", [row(exp2, mpf(i) / 16, mpf(1) / 16, 61) for i in range(16)]
    central = []
    for octave in range(5):
        low = mpf(2) ** -(octave + 2)
        for i in range(16):
            central.append(row(normal_quantile, low * (1 + mpf(i) / 16), low / 16, 58))
    yield "quantile_central_segments", central
    by_log = lambda level: normal_quantile(mpf(2) ** -level)
    tail = []
    for octave in range(2, 7):
        low = mpf(2) ** octave
        for i in range(16):
            if low * (1 + mpf(i) / 16) < 6 or (octave == 6 and i > 0):
                continue
            tail.append(row(by_log, low * (1 + mpf(i) / 16), low / 16, 58))
    yield "quantile_tail_segments", tail


HEAD = """\
// The constants of fixed_math.cpp, printed by fixed_math_tables.py. Each row is a polynomial of
// degree six, lowest power first, in the place inside its segment. The unit test of fixed_math
// holds every row against long double arithmetic, so no digit that counts can be wrong unseen.

#include "model/support/fixed_math_tables.hpp"

namespace rehearse::model::tables {

// clang-format off
"""

if __name__ == "__main__":
    print(HEAD, end="")
    for name, rows in segments():
        print(f"const std::array<Segment, {len(rows)}> {name}{{{{")
        for c in rows:
            first = ", ".join(str(v) for v in c[:4])
            rest = ", ".join(str(v) for v in c[4:])
            print(f"    {{{{{first},\n      {rest}}}}},")
        print("}};\n")
    print("// clang-format on\n\n}  // namespace rehearse::model::tables")
