import json

import pytest

from transformer_block.audit import Fault, Report, Row

HELD = Row("shape", "held", "as <it> was", 0.0, 0.5, {"n": 1})
BROKEN = Row("causal", "broken", "the future leaks", 0.25, 1e-05)
ASIDE = Row("cache", "not applicable", "it has none")
FAULT = Fault("causal_mask_missing", "each position hears all", ("causal",))
REPORT = Report((HELD, BROKEN, ASIDE), (FAULT,))


def test_a_report_holds_while_no_row_is_broken():
    assert not REPORT.holds
    assert REPORT.broken == (BROKEN,)
    assert Report((HELD, ASIDE)).holds


def test_rows_are_found_by_the_contract_they_are_of():
    assert REPORT["causal"] is BROKEN
    assert list(REPORT) == [HELD, BROKEN, ASIDE]
    with pytest.raises(KeyError, match="speed"):
        REPORT["speed"]


def test_text_has_a_line_for_each_row_and_the_faults_at_the_end():
    assert str(REPORT) == (
        "✓ shape   as <it> was (0 ≤ 0.5)\n"
        "✗ causal  the future leaks (0.25 > 1e-05)\n"
        "· cache   it has none\n"
        "1 held, 1 broken, 1 not applicable\n"
        "→ causal_mask_missing: each position hears all"
    )
    assert str(Report(())) == "0 held, 0 broken, 0 not applicable"


def test_a_number_stands_beside_its_threshold():
    assert HELD.measured == "0 ≤ 0.5"
    assert BROKEN.measured == "0.25 > 1e-05"
    assert ASIDE.measured == ""
    assert Row("a", "held", "", 0.12345).measured == "0.123"
    assert Row("a", "broken", "", float("nan"), 1.0).measured == "nan > 1"


def test_html_escapes_what_a_block_says():
    html = REPORT._repr_html_()
    assert "as &lt;it&gt; was" in html
    assert "<it>" not in html
    assert html.count("<tr>") == 4
    assert "✗ broken" in html
    assert "1 not applicable<br>→ causal_mask_missing" in html


def test_json_holds_all_and_no_number_that_json_has_not():
    odd = Row("far", "broken", "…", float("inf"), 1.0, {"way": [float("nan"), (1, 2)]})
    whole = json.loads(Report((HELD, odd), (FAULT,)).to_json())
    assert whole["holds"] is False
    assert whole["rows"][0]["evidence"] == {"n": 1}
    assert whole["rows"][0]["number"] == 0.0
    assert whole["rows"][1]["number"] is None
    assert whole["rows"][1]["evidence"] == {"way": [None, [1, 2]]}
    assert whole["faults"] == [{"name": FAULT.name, "sentence": FAULT.sentence, "contracts": ["causal"]}]
    assert "…" in Report((odd,)).to_json()
