"""Answers to `norm_placement.trend`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def polyfit(depths, gradients):
    return np.polyfit(np.log(depths), np.log(gradients).T, 1)[0]


def row_by_row(depths, gradients):
    return np.array([np.polyfit(np.log2(depths), np.log2(row), 1)[0] for row in gradients])


def by_covariance(depths, gradients):
    x, y = np.log10(depths), np.log10(gradients.astype(float))
    return ((x - x.mean()) * (y - y.mean(axis=1, keepdims=True))).mean(axis=1) / x.var()


def least_squares(depths, gradients):
    lines = np.stack([np.log(depths), np.ones(len(depths))], axis=1)
    return np.linalg.lstsq(lines, np.log(gradients).T.astype(float), rcond=None)[0][0]


def in_loops(depths, gradients):
    found = []
    xs = [float(np.log(d)) for d in depths]
    for row in gradients:
        ys = [float(np.log(float(g))) for g in row]
        mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
        top = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
        found.append(top / sum((x - mean_x) ** 2 for x in xs))
    return np.array(found)


def normal_equations(depths, gradients):
    lines = np.stack([np.log(depths), np.ones(len(depths))])
    return np.linalg.solve(lines @ lines.T, lines @ np.log(gradients.astype(float)).T)[0]


class Exponents:
    def __call__(self, depths, gradients):
        return polyfit(depths, gradients)


RIGHT: dict[str, Answer] = {
    "polyfit": polyfit,
    "row by row": row_by_row,
    "by covariance": by_covariance,
    "least squares": least_squares,
    "in loops": in_loops,
    "normal equations": normal_equations,
    "an object with __call__": Exponents(),
}


def line(of_depths, of_gradients):
    return lambda depths, gradients: np.polyfit(of_depths(depths), of_gradients(gradients).T, 1)[0]


def as_it_is(values):
    return values * 1.0


def ends(depths, gradients):
    return (np.log(gradients[:, -1]) - np.log(gradients[:, 0])) / (np.log(depths[-1]) - np.log(depths[0]))


def exchanged(depths, gradients):
    return np.array([np.polyfit(np.log(row), np.log(depths), 1)[0] for row in gradients])


def through_the_origin(depths, gradients):
    x = np.log(depths)
    return np.log(gradients) @ x / (x @ x)


def in_place(depths, gradients):
    np.log(gradients, out=gradients)
    return np.polyfit(np.log(depths), gradients.T, 1)[0]


def no_return(depths, gradients):
    polyfit(depths, gradients)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no logs": Wrong(line(as_it_is, as_it_is), "no logarithms"),
    "log of the gradient": Wrong(line(as_it_is, np.log), "logarithm of the gradient alone"),
    "log of the depth": Wrong(line(np.log, as_it_is), "logarithm of the depth alone"),
    "ends": Wrong(ends, "first and last point alone"),
    "sign": Wrong(lambda depths, gradients: -polyfit(depths, gradients), "sign turned"),
    "exchanged": Wrong(exchanged, "axes exchanged"),
    "origin": Wrong(through_the_origin, "line through the origin"),
    "in place": Wrong(in_place, None),
    "intercepts": Wrong(
        lambda depths, gradients: np.polyfit(np.log(depths), np.log(gradients).T, 1)[1], None
    ),
    "both coefficients": Wrong(
        lambda depths, gradients: np.polyfit(np.log(depths), np.log(gradients).T, 1), None
    ),
    "rounded": Wrong(lambda depths, gradients: polyfit(depths, gradients).round(2), None),
    "in float32": Wrong(lambda depths, gradients: polyfit(depths, gradients).astype(np.float32), None),
}

TRIVIAL: dict[str, Answer] = {
    "minus a half": lambda depths, gradients: np.full(len(gradients), -0.5),
    "zeros": lambda depths, gradients: np.zeros(len(gradients)),
    "the first gradients": lambda depths, gradients: gradients[:, 0],
    "the given": lambda depths, gradients: gradients,
    "noise": lambda depths, gradients: np.random.default_rng(0).normal(size=len(gradients)),
}
