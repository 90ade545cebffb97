"""Answers to `shapes.wiring`."""

from tests.gallery.answers import Answer, Wrong


def pre_norm(x):
    return {
        "norm_1": {x},
        "attention": {"norm_1"},
        "add_1": {x, "attention"},
        "norm_2": {"add_1"},
        "feed_forward": {"norm_2"},
        "add_2": {"add_1", "feed_forward"},
    }


def post_norm(x):
    return {
        "attention": {x},
        "add_1": {"attention", x},
        "norm_1": {"add_1"},
        "feed_forward": {"norm_1"},
        "add_2": {"feed_forward", "norm_1"},
        "norm_2": {"add_2"},
    }


def in_sets(placement, source):
    return {"pre": pre_norm, "post": post_norm}[placement](source)


def in_lists(placement, source):
    return {box: sorted(inputs) for box, inputs in in_sets(placement, source).items()}


def words_where_one_is_enough(placement, source):
    table = in_sets(placement, source)
    return {box: inputs if len(inputs) > 1 else min(inputs) for box, inputs in table.items()}


def by_walking(placement, source):
    stream, wires = source, {}
    for number, branch in enumerate(("attention", "feed_forward"), start=1):
        add, norm, read = f"add_{number}", f"norm_{number}", stream
        if placement == "pre":
            wires[norm], read = (stream,), norm
        wires[branch] = (read,)
        wires[add], stream = (stream, branch), add
        if placement == "post":
            wires[norm], stream = (add,), norm
    return wires


class Tracer:
    """A stand-in for an array that remembers what it met."""

    def __init__(self):
        self.wires = {}

    def box(self, name, *inputs):
        self.wires[name] = frozenset(inputs)
        return name


def by_tracing(placement, source):
    box = (tracer := Tracer()).box
    if placement == "pre":
        h = box("add_1", source, box("attention", box("norm_1", source)))
        box("add_2", h, box("feed_forward", box("norm_2", h)))
    else:
        h = box("norm_1", box("add_1", source, box("attention", source)))
        box("norm_2", box("add_2", h, box("feed_forward", h)))
    return tracer.wires


RIGHT: dict[str, Answer] = {
    "in sets": in_sets,
    "in lists": in_lists,
    "words where one is enough": words_where_one_is_enough,
    "by walking": by_walking,
    "by tracing": by_tracing,
    "a lambda": lambda placement, source: pre_norm(source) if placement == "pre" else post_norm(source),
}


def but(pre=None, post=None):
    def answer(placement, source):
        change = {"pre": pre, "post": post}[placement]
        return in_sets(placement, source) | (change(source) if change else {})

    return answer


def from_the_beginning(x):
    return {"add_2": {"feed_forward", x}}


def without_skips(x):
    return {"add_1": {"attention"}, "add_2": {"feed_forward"}}


def normed_update(x):
    return {
        "attention": {x},
        "norm_1": {"attention"},
        "add_1": {"norm_1", x},
        "feed_forward": {"add_1"},
        "norm_2": {"feed_forward"},
        "add_2": {"norm_2", "add_1"},
    }


def no_return(placement, source):
    in_sets(placement, source)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "from the beginning": Wrong(
        but(from_the_beginning, from_the_beginning), "second skip from where the block begins"
    ),
    "pre from the beginning": Wrong(but(from_the_beginning), "second skip from where the block begins"),
    "around the norm": Wrong(
        but(post=lambda x: {"add_2": {"add_1", "feed_forward"}}), "post-norm skip around the norm"
    ),
    "both pre": Wrong(lambda placement, source: pre_norm(source), "post-norm wired as pre-norm"),
    "both post": Wrong(lambda placement, source: post_norm(source), "pre-norm wired as post-norm"),
    "around the normed x": Wrong(
        but(lambda x: {"add_1": {"norm_1", "attention"}, "add_2": {"norm_2", "feed_forward"}}),
        "skip from behind the norm",
    ),
    "no skips": Wrong(but(without_skips, without_skips), "no skips"),
    "normed update": Wrong(but(post=normed_update), "update normalized in place of the sum"),
    "x for the source": Wrong(lambda placement, source: in_sets(placement, "x"), None),
    "side by side": Wrong(but(lambda x: {"norm_2": {x}}), None),
    "numbers": Wrong(lambda placement, source: dict.fromkeys(pre_norm("x"), 1), None),
    "no dict": Wrong(lambda placement, source: list(in_sets(placement, source)), None),
}

TRIVIAL: dict[str, Answer] = {
    "the source everywhere": lambda placement, source: {key: {source} for key in pre_norm("x")},
    "a chain": lambda placement, source: dict(
        zip(pre_norm("x"), ({name} for name in (source, *pre_norm("x"))), strict=False)
    ),
    "each box itself": lambda placement, source: {name: {name} for name in pre_norm("x")},
    "an empty dict": lambda placement, source: {},
    "the placement": lambda placement, source: placement,
}
