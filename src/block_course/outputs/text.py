"""Compare printed text: words and integers exactly, decimals within one unit of their last digit.

What counts as a number: digits with an optional sign, point and exponent, standing alone. A digit that
touches a letter, an underscore or a further dotted part belongs to a word: `1.2.3`, `0x7f3a`, `float32`,
`gpt2`, `3ms`; so are `nan` and `inf`. The rule for two numbers, in this order:

* An integer has no noise: it must be the same (`-0` is `0`).
* `1.` is how NumPy and torch write a whole number: two of them must be the same, and beside `0.9999999` it is
  exact to 1e-6. (Were its unit 1, a mask `[1. 0.]` would agree with `[0. 1.]`.)
* With an exponent in either, the unit is that of the number printed more coarsely. So the residues `1e-16`
  and `3e-17` agree, and `1.1e-16` and `2.2e-16` do not: a cell should say "below 1e-12" instead of printing
  one.
* Different numbers of decimals mean that zeros were trimmed (`0.5` beside `0.50000006`), so the shorter
  number is known as finely as the longer: the finer unit counts, or one part in a million, which is float32
  noise.
* Otherwise both have one unit. `0.7` and `0.8` agree: a cell that should tell them apart prints more digits.

A sign is part of its number: `-0.000` agrees with `0.000`, `-0.5` does not agree with `0.5`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import zip_longest

# Possessive, so that a long row of digits that turns out to be a word costs linear time.
_NUMBER = re.compile(
    r"""(?<![\w.])                               # not inside a word, not after a dotted part
        [-+−]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)
        (?:[eE][-+]?[0-9]{1,4}+)?+
        (?!\w|\.\w)                              # a full stop may follow, a further part may not""",
    re.VERBOSE,
)
_BARE_POINT = re.compile(r"\.(?![0-9])")
_NOISE = Decimal("1e-6")
_SHOWN = 80


def text_problem(stored: str, computed: str, *, ulps: float = 1) -> str | None:
    """Say where two printed texts differ by more than rounding; None if they agree.

    ```
    |x − y| ≤ ulps · unit,      unit = 10^(place of the last printed digit)
    ```

    Blanks beside a number may vary by a sign's width, and by as much as a number of the text became longer;
    every other character outside numbers is compared exactly. `ulps=0` asks for equal values.
    """
    if stored == computed:
        return None
    before, after = list(_NUMBER.finditer(stored)), list(_NUMBER.finditer(computed))
    if not _same_words(stored, computed):
        return _first_changed_line(stored, computed)
    for old, new in zip(before, after, strict=True):
        if not _numbers_agree(_plain(old.group()), _plain(new.group()), Decimal(str(ulps))):
            line = stored.count("\n", 0, old.start()) + 1
            return f"line {line}: {old.group()} became {new.group()} in {_shown(stored, line)}"
    return None


def _plain(number: str) -> str:
    return number.replace("−", "-").lower()


def _is_integer(number: str) -> bool:
    return "." not in number and "e" not in number


def _numbers_agree(old: str, new: str, ulps: Decimal) -> bool:
    if old == new:
        return True
    if _is_integer(old) or _is_integer(new):
        return {old, new} <= {"0", "-0"}
    return abs(Decimal(old) - Decimal(new)) <= ulps * _unit_of_pair(old, new)


def _unit_of_pair(old: str, new: str) -> Decimal:
    finer, coarser = sorted((_unit(old), _unit(new)))
    if "e" in old + new:
        return coarser
    if finer == coarser:
        return finer
    return max(finer, _NOISE * max(abs(Decimal(old)), abs(Decimal(new))))


def _unit(number: str) -> Decimal:
    exponent = Decimal(number).as_tuple().exponent
    assert isinstance(exponent, int)  # only NaN and infinity have a letter there, and they are words
    unit = Decimal(1).scaleb(exponent)
    return unit * _NOISE if _BARE_POINT.search(number) else unit


def _same_words(stored: str, computed: str) -> bool:
    before, after = _NUMBER.split(stored), _NUMBER.split(computed)
    if len(before) != len(after):
        return False
    lengths = zip(_lengths(stored), _lengths(computed), strict=True)
    slack = 1 + max((abs(old - new) for old, new in lengths), default=0)
    last = len(before) - 1
    return all(
        old == new or _same_but_padding(old, new, slack, follows=i > 0, precedes=i < last)
        for i, (old, new) in enumerate(zip(before, after, strict=True))
    )


def _lengths(text: str) -> list[int]:
    return [len(number.lstrip("-+−")) for number in _NUMBER.findall(text)]


def _same_but_padding(old: str, new: str, slack: int, *, follows: bool, precedes: bool) -> bool:
    """Whether two stretches between numbers differ only in blanks beside a number, by at most `slack`."""
    for beside_a_number, strip in ((follows, str.lstrip), (precedes, str.rstrip)):
        if beside_a_number:
            old_core, new_core = strip(old, " "), strip(new, " ")
            if abs((len(old) - len(old_core)) - (len(new) - len(new_core))) > slack:
                return False
            old, new = old_core, new_core
    return old == new


def _first_changed_line(stored: str, computed: str) -> str:
    pairs = zip_longest(stored.split("\n"), computed.split("\n"), fillvalue="")
    for line, (old, new) in enumerate(pairs, start=1):
        if not _same_words(old, new):
            return f"line {line}: {_cut(old)} became {_cut(new)}"
    return f"the end: {stored[-20:]!r} became {computed[-20:]!r}"


def _shown(text: str, line: int) -> str:
    return _cut(text.split("\n")[line - 1])


def _cut(line: str) -> str:
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + "…")
