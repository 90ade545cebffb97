"""Answers to `one_token.table`."""

from tests.gallery.answers import Answer, Wrong

NAMES = ("norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2")


def by_rules(D, placement, t, T):
    if t == T - 1:
        return dict.fromkeys(NAMES, "same")
    if D > 2:
        return dict.fromkeys(NAMES, "other") | ({"norm_1": "same"} if placement == "pre" else {})
    table = dict.fromkeys(NAMES, "same") | {"attention": "other", "add_1": "other"}
    if placement == "pre":
        table["add_2"] = "other"
    return table


def by_flow(D, placement, t, T):
    """What carries a change from one stage to the next."""
    order = ["attention", "add_1", "norm_1", "feed_forward", "add_2", "norm_2"]
    if placement == "pre":
        order = ["norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2"]
    table, stream, branch = {}, False, False
    for name in order:
        if name == "attention":
            branch = t + 1 < T
        elif name.startswith("norm"):
            passes = stream and D >= 3
            branch = passes
            stream = stream if placement == "pre" else passes
        elif name.startswith("add"):
            stream = branch = stream or branch
        table[name] = ("same", "other")[branch]
    return table


def by_sets(D, placement, t, T):
    changed = set()
    if t < T - 1:
        changed |= {"attention", "add_1"}
        changed |= {"add_2"} if (D, placement) != (2, "post") else set()
        changed |= {"norm_2", "feed_forward"} if D != 2 else set()
        changed |= {"norm_1"} if D != 2 and placement != "pre" else set()
    return {name: "other" if name in changed else "same" for name in NAMES}


class Stages:
    def __call__(self, D, placement, t, T):
        return by_flow(D, placement, t, T)


RIGHT: dict[str, Answer] = {
    "by rules": by_rules,
    "by what flows": by_flow,
    "by sets": by_sets,
    "an object with __call__": Stages(),
    "a lambda": lambda *given: by_sets(*given),
    "with more entries": lambda *given: {"x": "same"} | by_rules(*given),
}


def no_return(*given):
    by_rules(*given)


def changed(change):
    return lambda D, placement, t, T: by_rules(D, placement, t, T) | change(D, placement, t, T)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "two as many": Wrong(lambda D, p, t, T: by_rules(8, p, t, T), "two features like many"),
    "many as two": Wrong(lambda D, p, t, T: by_rules(2, p, t, T), "many features like two"),
    "always post": Wrong(lambda D, p, t, T: by_rules(D, "post", t, T), "pre-norm like post-norm"),
    "always pre": Wrong(lambda D, p, t, T: by_rules(D, "pre", t, T), "post-norm like pre-norm"),
    "any token": Wrong(lambda D, p, t, T: by_rules(D, p, 0, T), "last token like any"),
    "the stream forgotten": Wrong(
        changed(lambda D, p, t, T: {"add_2": "same"} if D == 2 else {}), "a change of the stream forgotten"
    ),
    "all of them": Wrong(
        lambda D, p, t, T: dict.fromkeys(NAMES, "same" if t == T - 1 else "other"), "everything changes"
    ),
    "the second norm": Wrong(changed(lambda D, p, t, T: {"norm_2": "other"}), None),
    "other words": Wrong(
        lambda *given: {name: "yes" if word == "other" else "no" for name, word in by_rules(*given).items()},
        None,
    ),
    "True and False": Wrong(
        lambda *given: {name: word == "other" for name, word in by_rules(*given).items()}, None
    ),
    "a set": Wrong(lambda *given: {n for n, word in by_rules(*given).items() if word == "other"}, None),
}

TRIVIAL: dict[str, Answer] = {
    "same": lambda *given: dict.fromkeys(NAMES, "same"),
    "other": lambda *given: dict.fromkeys(NAMES, "other"),
    "attention alone": lambda *given: dict.fromkeys(NAMES, "same") | {"attention": "other"},
    "an empty dict": lambda *given: {},
    "a word": lambda *given: "other",
}
