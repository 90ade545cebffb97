"""Answers to `training.reverse`."""

from collections import Counter

import numpy as np

from tests.gallery.answers import Answer, Wrong


def chances(answers, bet):
    return np.take_along_axis(bet, answers[..., None], axis=-1)[..., 0]


def one_hot_of(tokens, symbols):
    return np.eye(symbols)[tokens]


def bet_of(tokens, symbols):
    one_hot = one_hot_of(tokens, symbols)
    return (one_hot.sum(axis=1, keepdims=True) - one_hot) / (tokens.shape[1] - 1)


def by_one_hot(tokens, symbols):
    answers, bet = tokens[:, ::-1], bet_of(tokens, symbols)
    return answers, bet, -np.log(chances(answers, bet)).mean()


def counted(tokens, symbols):
    B, T = tokens.shape
    answers, bet = np.flip(tokens, axis=1).copy(), np.zeros((B, T, symbols))
    total = 0.0
    for b in range(B):
        for t in range(T):
            others = Counter(int(s) for i, s in enumerate(tokens[b]) if i != t)
            for symbol, count in others.items():
                bet[b, t, symbol] = count / (T - 1)
            total -= np.log(bet[b, t, answers[b, t]])
    return answers, bet, total / (B * T)


def by_comparison(tokens, symbols):
    T = tokens.shape[1]
    same = tokens[:, :, None, None] == np.arange(symbols)
    other = ~np.eye(T, dtype=bool)
    bet = np.einsum("bsiv,ts->btv", same.astype(float), other.astype(float)) / (T - 1)
    answers = tokens[:, np.arange(T)[::-1]]
    rows, columns = np.indices(tokens.shape)
    return answers, bet, np.mean(-np.log(bet[rows, columns, answers]))


def by_products(tokens, symbols):
    T = tokens.shape[1]
    bet = (np.ones((T, T)) - np.eye(T)) @ one_hot_of(tokens, symbols) / (T - 1)
    answers = np.fliplr(tokens)
    return answers, bet, -np.mean(np.log((bet * one_hot_of(answers, symbols)).sum(-1)))


def in_a_list(tokens, symbols):
    answers, bet, loss = by_one_hot(tokens, symbols)
    return [answers, bet, float(loss)]


class Task:
    def __call__(self, tokens, symbols):
        return by_products(tokens, symbols)


RIGHT: dict[str, Answer] = {
    "by one-hot rows": by_one_hot,
    "counted": counted,
    "by comparison": by_comparison,
    "by products": by_products,
    "a list": in_a_list,
    "an object with __call__": Task(),
    "a lambda": lambda tokens, symbols: by_one_hot(tokens, symbols),
}


def task(answered=lambda tokens: tokens[:, ::-1], bets=bet_of, lost=lambda p: -np.log(p).mean()):
    def answer(tokens, symbols):
        answers, bet = answered(tokens), bets(tokens, symbols)
        return answers, bet, lost(np.maximum(chances(answers, bet), 1e-300))

    return answer


def own_too(tokens, symbols):
    share = one_hot_of(tokens, symbols).mean(axis=1)
    return np.stack([share] * tokens.shape[1], axis=1)


def no_return(tokens, symbols):
    by_one_hot(tokens, symbols)


def in_place(tokens, symbols):
    outputs = by_one_hot(tokens.copy(), symbols)
    tokens[:] = outputs[0]
    return outputs


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "the batch reversed": Wrong(task(answered=lambda tokens: tokens[::-1]), "batch reversed, not positions"),
    "own token": Wrong(task(bets=own_too), "own token in the bet"),
    "counts": Wrong(task(bets=lambda x, V: bet_of(x, V) * (x.shape[1] - 1)), "counts in place of shares"),
    "even": Wrong(task(bets=lambda x, V: np.ones((*x.shape, V)) / V), "an even bet"),
    "log of the mean": Wrong(task(lost=lambda p: -np.log(p.mean())), "logarithm of a mean"),
    "summed": Wrong(task(lost=lambda p: -np.log(p).sum()), "loss summed"),
    "in bits": Wrong(task(lost=lambda p: -np.log2(p).mean()), "loss in bits"),
    "the sign": Wrong(task(lost=lambda p: np.log(p).mean()), None),
    "not reversed": Wrong(lambda x, V: (x, *by_one_hot(x, V)[1:]), None),
    "a loss for each": Wrong(task(lost=lambda p: -np.log(p)), None),
    "divided by T": Wrong(task(bets=lambda x, V: bet_of(x, V) * (1 - 1 / x.shape[1])), None),
    "no loss": Wrong(lambda x, V: by_one_hot(x, V)[:2], None),
    "changes tokens": Wrong(in_place, None),
}

TRIVIAL: dict[str, Answer] = {
    "the tokens": lambda x, V: (x, np.zeros((*x.shape, V)), 0.0),
    "zeros": lambda x, V: (0 * x, np.zeros((*x.shape, V)), 0.0),
    "ones": lambda x, V: (0 * x + 1, np.ones((*x.shape, V)), 1.0),
    "one output": lambda x, V: x,
    "noise": lambda x, V: (
        np.random.default_rng(0).permuted(x, axis=1),
        np.random.default_rng(0).random((*x.shape, V)),
        1.5,
    ),
}
