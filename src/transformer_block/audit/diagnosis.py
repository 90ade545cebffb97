"""From rows to faults: which known fault makes this pattern of broken contracts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from transformer_block.audit.known_faults import KNOWN
from transformer_block.audit.report import Fault, Row


def faults(rows: Sequence[Row]) -> tuple[Fault, ...]:
    """Name the faults that explain the broken rows, the most telling evidence first.

    A fault is named if its evidence is there and it explains a broken row that no fault
    named before does. A row that stays broken and unexplained is left to its sentence.
    """
    broken = {row.contract for row in rows if row.state == "broken"}
    unexplained = set(broken)
    named = []
    for name in _suspects({row.contract: row for row in rows}):
        sentence, contracts = KNOWN[name]
        if unexplained & set(contracts):
            explained = tuple(each for each in contracts if each in broken)
            named.append(Fault(name, sentence, explained))
            unexplained -= set(contracts)
    return tuple(named)


class Evidence:
    """The rows by contract, and what each of them measured."""

    def __init__(self, rows: dict[str, Row]) -> None:
        self.rows = rows

    def broken(self, contract: str) -> bool:
        """Whether a contract is broken by what was measured."""
        row = self.rows.get(contract)
        return row is not None and row.state == "broken" and not self.raised(contract)

    def raised(self, contract: str) -> bool:
        """Whether the block gave no answer that could be measured."""
        return bool(self.of(contract, "raised") or self.of(contract, "ended"))

    def of(self, contract: str, name: str, otherwise: Any = None) -> Any:
        """What a contract measured under a name."""
        row = self.rows.get(contract)
        return otherwise if row is None else row.evidence.get(name, otherwise)

    def above(self, contract: str, name: str) -> bool:
        """Whether a measure of a contract is beyond rounding."""
        number = self.of(contract, name, 0.0)
        return not number <= self.of(contract, "rounding", 0.0)


def _suspects(rows: dict[str, Row]) -> Iterator[str]:
    """Names of faults whose evidence is there, the most specific first."""
    found = Evidence(rows)
    if found.raised("shape") or found.broken("shape"):
        yield "no_usable_output"
        return
    rules = (
        _of_chance,
        _of_modes,
        _of_likeness,
        _of_norms,
        _of_heads,
        _of_masks,
        _of_stream,
        _of_rest,
    )
    for rule in rules:
        yield from rule(found)


def _of_chance(found: Evidence) -> Iterator[str]:
    """What disturbs every other measure comes first: behind it others prove nothing."""
    if found.broken("determinism"):
        yield "dropout_left_on"
    elif found.broken("batch"):
        yield "sequences_mixed"


def _of_modes(found: Evidence) -> Iterator[str]:
    """A mask that is there in one mode, and not in the other."""
    for contract, fault in (("causal", "causal_mask"), ("padding", "mask")):
        if found.broken(contract):
            in_eval, in_train = (found.above(contract, m) for m in ("eval", "train"))
            if in_eval != in_train:
                yield f"{fault}_dropped_in_{'eval' if in_eval else 'training'}"


def _of_likeness(found: Evidence) -> Iterator[str]:
    yield from found.of("like the package", "matches", [])[:1]


def _of_norms(found: Evidence) -> Iterator[str]:
    kinds = {
        "statistics over time and features": "statistics_over_time_and_features",
        "sample variance": "sample_variance",
        "eps outside the root": "eps_outside_the_root",
    }
    for kind in found.of("norms", "kinds", {}).values():
        if kind in kinds:
            yield kinds[kind]
    if found.of("norms", "canceled") or found.broken("far from 0"):
        yield "variance_from_mean_of_squares"
    if found.of("norms", "uncalled") and found.of("norms", "reused"):
        yield "first_norm_reused"


def _of_heads(found: Evidence) -> Iterator[str]:
    """Equal tokens that come out unequal: what else leaks says why."""
    if not found.broken("average") or found.broken("mask meaning"):
        return
    causal, padding = found.broken("causal"), found.broken("padding")
    encoder = found.rows["causal"].state == "not applicable"
    scrambled = causal and found.of("causal", "share") < 1.0
    if scrambled or (encoder and found.above("average", "bare")):
        yield "heads_not_transposed_back"
    elif (causal or padding) and not found.of("average", "behind"):
        yield "softmax_over_queries"
    else:
        yield "weights_do_not_sum_to_1"


def _of_masks(found: Evidence) -> Iterator[str]:
    if found.broken("mask meaning"):
        yield "mask_inverted"
    if found.broken("causal"):
        if found.of("causal", "next_only"):
            yield "causal_mask_off_by_one"
        elif found.of("causal", "share") == 1.0:
            yield "causal_mask_missing"
    if found.broken("padding"):
        lost = found.above("padding", "by_mask")
        yield "mask_lost_after_the_first_layer" if lost else "mask_ignored"
    if found.broken("fully masked row"):
        yield "masked_row_not_finite"


def _of_stream(found: Evidence) -> Iterator[str]:
    if not found.broken("zeroed branches"):
        return
    if found.of("zeroed branches", "ends_in_norm"):
        yield "post_norm"
    elif found.of("zeroed branches", "nothing"):
        yield "no_residual"
    elif found.of("zeroed branches", "normalized", 1.0) <= 0.02:
        yield "normed_x_added"


def _of_rest(found: Evidence) -> Iterator[str]:
    simple: dict[str, Callable[[], str]] = {
        "cache": lambda: _of_cache(found),
        "output kept": lambda: "output_buffer_reused",
        "input kept": lambda: "input_written_over",
        "dtype": lambda: "dtype_not_kept",
        "state": lambda: "state_incomplete",
        "gradients": lambda: (
            "parameter_unused"
            if found.of("gradients", "dead")
            else "gradients_not_finite"
        ),
        "float16": lambda: "not_finite_in_half",
        "bfloat16": lambda: "not_finite_in_half",
    }
    for contract, name in simple.items():
        if found.broken(contract):
            yield name()


def _of_cache(found: Evidence) -> str:
    if not found.of("cache", "hears_all"):
        return "cache_mask_misaligned"
    return (
        "cache_offset_off_by_one" if found.of("cache", "first_right") else "cache_stale"
    )
