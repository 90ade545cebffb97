"""Answers to `audit.manifest`."""

from tests.gallery.answers import Answer, Wrong

USE = {"weights", "n_heads", "eps", "placement", "activation", "causal", "rotary_base"}
RESUME = {"moments", "step", "schedule", "dropout", "random_state", "data_position"}
KEYS = ("to_use", "to_resume", "spare")
SPARE = {"d_model", "d_ff", "head_width", "n_parameters", "causal_mask", "learning_rate", "losses", "host"}


def by_sets(held):
    there = set(held.split())
    return {"to_use": USE - there, "to_resume": RESUME - there, "spare": there - USE - RESUME}


def by_lists(held):
    there = held.split(" ")
    return {
        "to_use": [name for name in sorted(USE) if name not in there],
        "to_resume": [name for name in sorted(RESUME) if name not in there],
        "spare": [name for name in there if name in SPARE],
    }


def by_purpose(held):
    purpose = (
        dict.fromkeys(USE, "to_use") | dict.fromkeys(RESUME, "to_resume") | dict.fromkeys(SPARE, "spare")
    )
    table = {"to_use": set(), "to_resume": set(), "spare": set()}
    for name, where in purpose.items():
        if (name in held.split()) == (where == "spare"):
            table[where].add(name)
    return table


def in_tuples(held):
    return {name: tuple(sorted(found, reverse=True)) for name, found in by_sets(held).items()}


def with_more(held):
    return {"held": held, **by_sets(held)}


class LookThrough:
    def __call__(self, held):
        there = frozenset(held.split())
        return {"to_use": USE.difference(there), "to_resume": RESUME - there, "spare": SPARE & there}


RIGHT: dict[str, Answer] = {
    "sets": by_sets,
    "lists": by_lists,
    "by purpose": by_purpose,
    "tuples": in_tuples,
    "an entry more": with_more,
    "an object with __call__": LookThrough(),
}


def believing(use=frozenset(), resume=frozenset(), spare=frozenset()):
    """The right function with some names believed to belong elsewhere."""
    moved = use | resume | spare

    def answer(held):
        there = set(held.split())
        wanted, later = (USE - moved) | use, (RESUME - moved) | resume
        return {"to_use": wanted - there, "to_resume": later - there, "spare": there - wanted - later}

    return answer


def held_and_lacking(held):
    there = set(held.split())
    return {"to_use": USE & there, "to_resume": RESUME & there, "spare": SPARE & there}


def told_twice(held):
    table = by_sets(held)
    return table | {"to_resume": table["to_use"] | table["to_resume"]}


def other_spares(held):
    return by_sets(held) | {"spare": SPARE - set(held.split())}


def in_text(held):
    return by_sets(held) | {"to_use": {name for name in USE if held.find(name) < 0}}


def no_return(held):
    by_sets(held)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "heads": Wrong(believing(spare={"n_heads"}), "heads read off the shapes"),
    "placement": Wrong(believing(spare={"placement"}), "placement read off the names"),
    "arrays alone": Wrong(
        believing(spare={"eps", "placement", "activation", "causal", "rotary_base"}),
        "what holds no array is no architecture",
    ),
    "eps": Wrong(believing(spare={"eps"}), "eps taken for a detail"),
    "sizes": Wrong(believing(use={"d_model", "d_ff"}), "sizes wanted that the weights show"),
    "dropout": Wrong(believing(use={"dropout"}), "dropout wanted for use"),
    "random state": Wrong(
        believing(spare={"random_state", "data_position"}), "random state taken for a detail"
    ),
    "moments": Wrong(believing(spare={"moments"}), "moments made anew"),
    "learning rate": Wrong(believing(resume={"learning_rate"}), "learning rate beside its schedule"),
    "what is there": Wrong(held_and_lacking, "held and lacking exchanged"),
    "told twice": Wrong(told_twice, "what use takes, told twice"),
    "other spares": Wrong(other_spares, "spare things that are not there"),
    "in the text": Wrong(in_text, "names searched for in the text"),
    "the losses": Wrong(believing(resume={"losses"}), None),
    "one string": Wrong(lambda held: {"to_use": held, "to_resume": held, "spare": held}, None),
}

TRIVIAL: dict[str, Answer] = {
    "all of it": lambda held: {"to_use": USE, "to_resume": RESUME, "spare": SPARE},
    "what is held": lambda held: {key: set(held.split()) for key in KEYS},
    "empty sets": lambda held: {"to_use": set(), "to_resume": set(), "spare": set()},
    "an empty dict": lambda held: {},
    "the given": lambda held: held,
}
