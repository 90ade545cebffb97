"""What each row says in an audit of the right block and of those in BROKEN, by state and contract."""

import re

from transformer_block.audit import Row

MODES = r"in evaluation( and in training)?|in training"
NUMBER = r"([\d.]+(e[+-]\d+)?|inf|nan)"
FULL_PASS = "the full pass"

SAYS = {
    "held": {
        "shape": r"\(3, 7, 24\) in, \(3, 7, 24\) out, all of it finite; other B and T as well",
        "input kept": "the tokens passed in were left as they were",
        "output kept": "an output stayed as it was while the block ran again",
        "determinism": "three calls in evaluation gave the same output to the last bit",
        "train and eval": "with dropout at 0, training gave what evaluation gave",
        "causal": "no output moved when a later token changed at random",
        "padding": "no visible output moved when hidden tokens changed",
        "mask meaning": "True means visible: a visible token moved others by "
        f"{NUMBER}, a hidden one by {NUMBER}",
        "fully masked row": "a sequence whose tokens see no key came out finite, and so did its gradients",
        "average": "equal tokens came out equal, and as one of them alone",
        "batch": "no sequence moved when the others of its batch changed or changed places",
        "zeroed branches": "with branches at 0 the block returned its input: "
        "the stream runs through by additions alone",
        "norms": r"((layers\.\d\.)?norm_\d is a layer norm(, )?)+",
        "cache": f"one by one, in chunks and at once, behind a cache, gave {FULL_PASS}",
        "gradients": r"finite and not 0 for the input and each of \d+ parameters",
        "state": "its state, loaded into a block made anew, gave the same outputs to the last bit",
        "dtype": "float64, float32, bfloat16, float16 in, the same out",
        "float16": "finite on tokens of size 1 and of size 300",
        "bfloat16": "finite on tokens of size 1 and of size 300",
        "far from 0": "float32 gave what float64 gave on tokens with a mean of 4,096",
        "like the package": "on the same parameters it gave what the package's block gives",
    },
    "broken": {
        "input kept": "the tokens passed in were written over",
        "output kept": "an output changed when the block ran again: both lie in one buffer",
        "determinism": "calls in evaluation with the same tokens gave different outputs",
        "train and eval": "with dropout at 0, training and evaluation gave different outputs",
        "causal": f"an output moved when a later token changed, ({MODES}): the future leaks",
        "padding": f"a visible output moved when a hidden token changed, ({MODES})",
        "mask meaning": f"a hidden token moved others by {NUMBER}, a visible one by {NUMBER}: "
        "the mask is read the wrong way round",
        "fully masked row": f"a sequence whose tokens see no key came out as NaN or infinity ({MODES})"
        f"(; its gradients ({MODES}))?",
        "average": "equal tokens did not come out as one of them alone: the weights of a query do not "
        "sum to 1, or features change places",
        "batch": f"a sequence moved when the others of its batch changed or changed places, ({MODES})",
        "zeroed branches": "with branches at 0 the block did not return its input"
        "(: tokens came out normalized)?(: nothing came out)?",
        "norms": r"(norm_\d (has [\w ]+|loses its digits far from 0)(; )?)+"
        "|norm_2 is never called, and norm_1 more than once",
        "cache": f"tokens read (one by one|in chunks|at once) behind a cache did not give {FULL_PASS}",
        "gradients": r"[\w., ]+ received none",
        "state": "its state, loaded into a block made anew, gave other outputs: "
        "something that it computes with is not in its state",
        "dtype": "float64, bfloat16, float16 in did not give the same dtype and device out",
        "far from 0": "float32 lost its digits on tokens with a mean of 4,096, which float64 has not lost",
        "like the package": "on the same parameters it did not give what the package's block gives"
        r"(: it agrees with the fault \w+)?",
    },
    "not applicable": {
        "cache": r"no cache was said to exist: Facts\(new_cache=…, call_cached=…\)",
        "like the package": "its parameters are not named or shaped so: .* of this block",
        "permutation": "a causal block knows the order of its tokens",
        "train and eval": "it draws at random in training, and that can't be turned off",
        "average": "only its first position gives what a token alone gives: positions seem to be "
        r"added inside; Facts\(positions='none'\) would make it a contract",
    },
}


def unexpected(row: Row) -> str:
    """The sentence of a row, if it isn't one that a row of its contract and state says; else nothing."""
    known = SAYS[row.state].get(row.contract, "")
    return "" if re.fullmatch(known, row.sentence) else f"{row.contract}, {row.state}: {row.sentence}"
