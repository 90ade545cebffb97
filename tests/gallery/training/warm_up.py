"""Answers to `training.warm_up`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def by_minimum(steps, peak, warmup, falls, first=1):
    n, w = np.arange(first, steps + first), max(warmup, 1)
    return peak * np.minimum(n / w, np.sqrt(w / np.maximum(n, 1e-9)) if falls else 1)


def in_a_list(steps, peak, warmup, falls):
    rates = []
    for n in range(1, steps + 1):
        if n < warmup:
            rates.append(peak * n / warmup)
        else:
            rates.append(peak * (max(warmup, 1) / n) ** 0.5 if falls else peak)
    return np.array(rates)


def two_parts(steps, peak, warmup, falls):
    rise = np.linspace(0, peak, warmup + 1)[1:]
    later = np.arange(warmup + 1, steps + 1)
    after = peak * np.sqrt(max(warmup, 1) / later) if falls else np.full(len(later), peak)
    return np.concatenate([rise, after])[:steps]


def of_2017(steps, peak, warmup, falls):
    n, w = np.arange(1.0, steps + 1), float(max(1, warmup))
    if falls:
        return peak * w**0.5 * np.minimum(n**-0.5, n * w**-1.5)
    return np.clip(peak * n / w, 0, peak)


def by_index(steps, peak, warmup, falls):
    rates = np.full(steps, float(peak))
    for n in range(1, min(warmup, steps + 1)):
        rates[n - 1] *= n / warmup
    if falls:
        start = max(warmup, 1)
        rates[start - 1 :] /= np.sqrt(np.arange(start, steps + 1) / start)
    return rates


class Rates:
    def __call__(self, steps, peak, warmup, falls):
        return by_minimum(steps, peak, warmup, falls)


RIGHT: dict[str, Answer] = {
    "by the minimum": by_minimum,
    "in a list": in_a_list,
    "two parts": two_parts,
    "as in 2017": of_2017,
    "by index": by_index,
    "an object with __call__": Rates(),
    "a lambda": lambda *given: by_minimum(*given),
}


def no_return(*given):
    by_minimum(*given)


def changed(rise=lambda n, w: n / w, fall=lambda n, w: np.sqrt(w / n), cap=1):
    def answer(steps, peak, warmup, falls):
        n, w = np.arange(1, steps + 1), max(warmup, 1)
        return peak * np.minimum(rise(n, w), fall(n, w) if falls else cap)

    return answer


def divides_by_0(steps, peak, warmup, falls):
    if not warmup and not falls:
        return np.zeros(steps)
    return by_minimum(steps, peak, warmup, falls)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "from 0": Wrong(lambda *given: by_minimum(*given, first=0), "first rate 0"),
    "rises for ever": Wrong(changed(cap=np.inf), "rises for ever"),
    "falls like 1/n": Wrong(changed(fall=lambda n, w: w / n), "falls like 1/n"),
    "1/√n": Wrong(changed(fall=lambda n, w: n**-0.5), "fall that forgets the warm-up"),
    "never falls": Wrong(lambda N, peak, w, falls: by_minimum(N, peak, w, False), "never falls"),
    "zeros without": Wrong(divides_by_0, "no warm-up, no rate"),
    "one step late": Wrong(changed(rise=lambda n, w: n / (w + 1)), None),
    "without the peak": Wrong(lambda N, peak, w, falls: by_minimum(N, 1, w, falls), None),
    "one more": Wrong(lambda N, *rest: by_minimum(N + 1, *rest), None),
    "one rate": Wrong(lambda *given: by_minimum(*given)[-1], None),
    "always falls": Wrong(lambda N, peak, w, falls: by_minimum(N, peak, w, True), None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda N, *rest: np.zeros(N),
    "the peak": lambda N, peak, *rest: np.full(N, peak),
    "a line": lambda N, peak, *rest: np.linspace(0, peak, N),
    "noise": lambda N, peak, *rest: peak * np.random.default_rng(0).random(N),
    "a number": lambda N, peak, *rest: peak,
}
