"""What an audit found: rows, as text, as a table in a notebook and as JSON."""

import html
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

State = Literal["held", "broken", "not applicable"]
_SIGNS = {"held": "✓", "broken": "✗", "not applicable": "·"}


@dataclass(frozen=True)
class Row:
    """One contract: its state, the number that shows it, and what that number means.

    The contract is held while number ≤ threshold. evidence holds what else was
    measured, in plain values; `diagnosis` reads it.
    """

    contract: str
    state: State
    sentence: str
    number: float | None = None
    threshold: float | None = None
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def sign(self) -> str:
        """A mark that needs no color."""
        return _SIGNS[self.state]

    @property
    def measured(self) -> str:
        """The number beside its threshold, in words that fit a table."""
        if self.number is None:
            return ""
        if self.threshold is None:
            return f"{self.number:.3g}"
        sign = "≤" if self.number <= self.threshold else ">"
        return f"{self.number:.2g} {sign} {self.threshold:.2g}"


@dataclass(frozen=True)
class Fault:
    """What is wrong with a block: a name, a sentence, and the rows that it breaks."""

    name: str
    sentence: str
    contracts: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """The rows of an audit, and the faults that their pattern names."""

    rows: tuple[Row, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no contract is broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[Row, ...]:
        """The rows of the contracts that do not hold."""
        return tuple(row for row in self.rows if row.state == "broken")

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, contract: str) -> Row:
        for row in self.rows:
            if row.contract == contract:
                return row
        raise KeyError(contract)

    def __str__(self) -> str:
        width = max((len(row.contract) for row in self.rows), default=0)
        lines = [
            f"{row.sign} {row.contract:{width}}  {_told(row)}" for row in self.rows
        ]
        return "\n".join([*lines, self.verdict])

    @property
    def verdict(self) -> str:
        """One line: how many contracts hold, and what the faults are."""
        held = sum(row.state == "held" for row in self.rows)
        aside = sum(row.state == "not applicable" for row in self.rows)
        counts = f"{held} held, {len(self.broken)} broken, {aside} not applicable"
        named = "".join(f"\n→ {fault.name}: {fault.sentence}" for fault in self.faults)
        return counts + named

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{row.sign} {row.state}</td>"
            f"<th scope='row'>{html.escape(row.contract)}</th>"
            f"<td>{html.escape(row.measured)}</td>"
            f"<td style='text-align:left'>{html.escape(row.sentence)}</td></tr>"
            for row in self.rows
        )
        head = "".join(
            f"<th scope='col'>{title}</th>"
            for title in ("", "contract", "measured", "what it means")
        )
        verdict = html.escape(self.verdict).replace("\n", "<br>")
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>{verdict}</p>"
        )

    def to_json(self) -> str:
        """The whole report as JSON; numbers that are not finite are written as null."""
        whole = {
            "holds": self.holds,
            "rows": [asdict(row) for row in self.rows],
            "faults": [asdict(fault) for fault in self.faults],
        }
        return json.dumps(_finite(whole), indent=2, ensure_ascii=False)


def _told(row: Row) -> str:
    return f"{row.sentence} ({row.measured})" if row.measured else row.sentence


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float) and value - value != 0:  # an infinity, or no number
        return None
    return value
