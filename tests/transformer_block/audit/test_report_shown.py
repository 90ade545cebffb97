"""A report to the last character: as a table in a notebook, as text without rows, as JSON."""

import dataclasses
import json
from typing import get_args

import pytest

from transformer_block.audit import Fault, Report, Row
from transformer_block.audit.report import State

ROW = Row("shape", "held", "as it was", 0.5, 0.5)
FAULTS = (Fault("one", "it is [1]", ("shape",)), Fault("two", "it is 2", ("shape",)))


def test_a_notebook_gets_a_table_with_its_heads_and_the_verdict_below():
    assert Report((ROW, Row("cache", "broken", "…")), FAULTS)._repr_html_() == (
        "<table><thead><tr><th scope='col'></th><th scope='col'>contract</th>"
        "<th scope='col'>measured</th><th scope='col'>what it means</th></tr></thead>"
        "<tbody><tr><td>✓ held</td><th scope='row'>shape</th><td>0.5 ≤ 0.5</td>"
        "<td style='text-align:left'>as it was</td></tr>"
        "<tr><td>✗ broken</td><th scope='row'>cache</th><td></td>"
        "<td style='text-align:left'>…</td></tr></tbody></table>"
        "<p>1 held, 1 broken, 0 not applicable<br>→ one: it is [1]<br>→ two: it is 2</p>"
    )


def test_a_report_without_rows_is_its_verdict():
    assert str(Report((), FAULTS[:1])) == "0 held, 0 broken, 0 not applicable\n→ one: it is [1]"
    assert Report(()).holds


def test_json_has_a_field_on_each_line_and_letters_as_they_are():
    told = Report((Row("δ", "broken", "…", float("-inf"), 0.0, {"share": -0.25}),)).to_json()
    assert told.startswith('{\n  "holds": false,\n  "rows": [\n    {\n      "contract": "δ",\n')
    assert json.loads(told)["rows"][0] == {
        "contract": "δ",
        "state": "broken",
        "sentence": "…",
        "number": None,
        "threshold": 0.0,
        "evidence": {"share": -0.25},
    }


def test_a_row_without_evidence_has_an_empty_one_of_its_own():
    one, other = Row("a", "held", ""), Row("b", "held", "")
    assert one.evidence == {}
    assert one.evidence is not other.evidence


@pytest.mark.parametrize("found", [ROW, FAULTS[0], Report((ROW,))])
def test_what_was_found_cannot_be_changed(found):
    name = dataclasses.fields(found)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(found, name, "else")


@pytest.mark.parametrize("state", get_args(State))
def test_each_state_has_a_sign(state):
    assert Row("shape", state, "").sign in "✓✗·"


def test_there_are_three_states():
    assert get_args(State) == ("held", "broken", "not applicable")
