"""Answers to `norm_placement.post_weights_in_pre`."""

from tests.gallery.answers import Answer, Wrong

NAMES = ("block", "missing", "unexpected", "stack")


def block_names(placement):
    parts = ["norm_1", "attention.qkv", "attention.out", "norm_2", "feed_forward.up", "feed_forward.down"]
    if placement == "sandwich":
        parts += ["norm_1_out", "norm_2_out"]
    return {f"{part}.{kind}" for part in parts for kind in ("weight", "bias")}


def stack_names(placement, L):
    names = {f"blocks.{i}.{name}" for i in range(L) for name in block_names(placement)}
    return names if placement == "post" else names | {"norm.weight", "norm.bias"}


def by_names(source, target, L):
    has, wants = stack_names(source, L), stack_names(target, L)
    loads = "same" if source == target else "other"
    return {
        "block": loads if block_names(source) == block_names(target) else "error",
        "missing": len(wants - has),
        "unexpected": len(has - wants),
        "stack": loads if has == wants else "error",
    }


def by_counts(source, target, L):
    count = {"pre": 12 * L + 2, "post": 12 * L, "sandwich": 16 * L + 2}
    difference = count[target] - count[source]
    table = {"missing": max(difference, 0), "unexpected": max(-difference, 0)}
    if source == target:
        return table | {"block": "same", "stack": "same"}
    return table | {"block": "error" if "sandwich" in (source, target) else "other", "stack": "error"}


def in_cases(source, target, L):
    match source, target:
        case ("post", "pre"):
            return {"block": "other", "missing": 2, "unexpected": 0, "stack": "error"}
        case ("pre", "post"):
            return {"block": "other", "missing": 0, "unexpected": 2, "stack": "error"}
        case _ if source == target:
            return {"block": "same", "missing": 0, "unexpected": 0, "stack": "same"}
        case ("sandwich", _):
            extra = 4 * L + (2 if target == "post" else 0)
            return {"block": "error", "missing": 0, "unexpected": extra, "stack": "error"}
        case _:
            extra = 4 * L + (2 if source == "post" else 0)
            return {"block": "error", "missing": extra, "unexpected": 0, "stack": "error"}


def in_floats(source, target, L):
    table = by_counts(source, target, L)
    return table | {name: float(table[name]) for name in ("missing", "unexpected")}


def with_more(source, target, L):
    return {"final": 2, **by_names(source, target, L)}


class Load:
    def __call__(self, *given):
        return by_counts(*given)


RIGHT: dict[str, Answer] = {
    "by names": by_names,
    "by counts": by_counts,
    "in cases": in_cases,
    "in floats": in_floats,
    "with an entry more": with_more,
    "an object with __call__": Load(),
}


def counted(of_names):
    """With other names in a stack."""

    def answer(source, target, L):
        has, wants = of_names(source, L), of_names(target, L)
        counts = {"missing": len(wants - has), "unexpected": len(has - wants)}
        return by_names(source, target, L) | counts

    return answer


def no_final_norm(placement, L):
    return {name for name in stack_names(placement, L) if name.startswith("blocks")}


def without_a_final_norm(source, target, L):
    table = counted(no_final_norm)(source, target, L)
    return table | {"stack": table["block"]}


def one_block(placement, L):
    return stack_names(placement, 1)


def weights(placement, L):
    return {name for name in stack_names(placement, L) if name.endswith("weight")}


def one_sandwich_norm(placement, L):
    return {name for name in stack_names(placement, L) if "norm_2_out" not in name}


def exchanged(source, target, L):
    table = by_names(source, target, L)
    return table | {"missing": table["unexpected"], "unexpected": table["missing"]}


def words(block, stack):
    def answer(source, target, L):
        table = by_names(source, target, L)
        return table | {"block": block(table, source == target), "stack": stack(table, source == target)}

    return answer


def no_return(source, target, L):
    by_names(source, target, L)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no final norm": Wrong(without_a_final_norm, "final norm forgotten"),
    "no final norm counted": Wrong(counted(no_final_norm), "final norm forgotten"),
    "stack as the block": Wrong(
        words(lambda table, same: table["block"], lambda table, same: table["block"]),
        "a final norm in every placement",
    ),
    "a block raises": Wrong(
        words(lambda table, same: "same" if same else "error", lambda table, same: table["stack"]),
        "a block can tell",
    ),
    "the same": Wrong(
        words(
            lambda table, same: table["block"].replace("other", "same"), lambda table, same: table["stack"]
        ),
        "what loads is the same",
    ),
    "one block": Wrong(counted(one_block), "one block for all"),
    "weights": Wrong(counted(weights), "weights without biases"),
    "exchanged": Wrong(exchanged, "missing and unexpected exchanged"),
    "one norm in a sandwich": Wrong(counted(one_sandwich_norm), "one norm more in a sandwich"),
    "all other": Wrong(words(lambda table, same: "other", lambda table, same: "other"), None),
    "words for numbers": Wrong(lambda source, target, L: dict.fromkeys(NAMES, "error"), None),
    "two entries": Wrong(lambda source, target, L: {"block": "other", "missing": 2}, None),
}

TRIVIAL: dict[str, Answer] = {
    "all the same": lambda source, target, L: {
        "block": "same",
        "missing": 0,
        "unexpected": 0,
        "stack": "same",
    },
    "all in error": lambda source, target, L: {
        "block": "error",
        "missing": 2,
        "unexpected": 2,
        "stack": "error",
    },
    "post in pre": lambda source, target, L: by_names("post", "pre", L),
    "an empty dict": lambda source, target, L: {},
    "the given": lambda source, target, L: source,
}
