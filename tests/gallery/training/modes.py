"""Answers to `training.modes`."""

from tests.gallery.answers import Answer, Wrong

NAMES = ("alike", "gradients", "others", "remembers")


def by_rules(part, rate, training, no_grad):
    table = {"alike": "yes", "gradients": "yes", "others": "no", "remembers": "no"}
    if training and rate > 0 and part in ("dropout", "block"):
        table["alike"] = "no"
    if training and part == "batch norm":
        table["others"] = table["remembers"] = "yes"
    if no_grad:
        table["gradients"] = "no"
    return table


def said(truth):
    return "yes" if truth else "no"


def in_one_line(part, rate, training, no_grad):
    batch = said(training and part.startswith("batch"))
    random = training and bool(rate) and "norm" not in part
    return {"others": batch, "remembers": batch, "alike": said(not random), "gradients": said(not no_grad)}


def by_experiment(part, rate, training, no_grad):
    import torch
    from torch import nn

    torch.manual_seed(0)
    module = {
        "dropout": nn.Dropout(rate),
        "layer norm": nn.LayerNorm(16),
        "batch norm": nn.BatchNorm1d(16),
        "block": nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.Dropout(rate)),
    }[part].train(training)
    x = torch.randn(64, 16)
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    with torch.set_grad_enabled(not no_grad):
        y = module(x.clone().requires_grad_() * 1)
    remembers = any(not torch.equal(buffer, before[name]) for name, buffer in module.named_buffers())
    with torch.no_grad():
        torch.manual_seed(1)
        first = module(x)
        alike = torch.equal(first, module(x))
        torch.manual_seed(1)
        others = not torch.equal(module(torch.cat([x[:1], torch.randn(63, 16)]))[0], first[0])
    if part in ("dropout", "block"):
        others = False  # what else moves there is chance
    answers = (alike, y.requires_grad, others, remembers)
    return dict(zip(NAMES, map(said, answers), strict=True))


def by_table(part, rate, training, no_grad):
    row = {"dropout": "no", "block": "no"}.get(part, "yes") if training and rate else "yes"
    trace = {("batch norm", True): "yes"}.get((part, training), "no")
    return dict(zip(NAMES, (row, ("yes", "no")[no_grad], trace, trace), strict=True))


class Modes:
    def __call__(self, part, rate, training, no_grad):
        return by_table(part, rate, training, no_grad)


RIGHT: dict[str, Answer] = {
    "by rules": by_rules,
    "in one line": in_one_line,
    "by experiment": by_experiment,
    "by a table": by_table,
    "an object with __call__": Modes(),
    "a lambda": lambda *given: by_rules(*given) | {"more": "no"},
}


def no_return(*given):
    by_rules(*given)


def changed(change):
    return lambda part, rate, training, no_grad: (
        by_rules(part, rate, training, no_grad) | change(part, rate, training, no_grad)
    )


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "eval without gradients": Wrong(
        changed(lambda part, rate, training, no_grad: {} if training else {"gradients": "no"}),
        "eval turns gradients off",
    ),
    "no_grad without dropout": Wrong(
        changed(lambda part, rate, training, no_grad: {"alike": "yes"} if no_grad else {}),
        "no_grad turns dropout off",
    ),
    "no_grad forgets": Wrong(
        changed(lambda part, rate, training, no_grad: {"remembers": "no"} if no_grad else {}),
        "no_grad keeps batch norm from remembering",
    ),
    "layer norm with modes": Wrong(
        lambda part, *rest: (
            by_rules(part, *rest)
            | (
                {n: by_rules("batch norm", *rest)[n] for n in ("others", "remembers")}
                if part == "layer norm"
                else {}
            )
        ),
        "layer norm with modes",
    ),
    "always dropout": Wrong(
        changed(lambda part, rate, *how: {"alike": said("norm" in part or not rate)}), "dropout in evaluation"
    ),
    "the rate ignored": Wrong(lambda part, rate, *how: by_rules(part, 0.5, *how), "dropout without a rate"),
    "others in eval": Wrong(
        changed(lambda part, *rest: {"others": said(part == "batch norm")}),
        "batch norm that hears others in evaluation",
    ),
    "a still block": Wrong(
        changed(lambda part, *rest: {"alike": "yes"} if part == "block" else {}),
        "a block like one that drops nothing",
    ),
    "True and False": Wrong(lambda *given: {n: w == "yes" for n, w in by_rules(*given).items()}, None),
    "turned over": Wrong(lambda *given: {n: said(w == "no") for n, w in by_rules(*given).items()}, None),
    "no dict": Wrong(lambda *given: tuple(by_rules(*given).values()), None),
}

TRIVIAL: dict[str, Answer] = {
    "yes": lambda *given: dict.fromkeys(NAMES, "yes"),
    "no": lambda *given: dict.fromkeys(NAMES, "no"),
    "the mode": lambda part, rate, training, no_grad: dict.fromkeys(NAMES, said(training)),
    "an empty dict": lambda *given: {},
    "a word": lambda *given: "yes",
}
