import gc
import json

import benchmarks.__main__ as command
import pytest
from benchmarks.timing import Contest, Result, Row, measure, sample_of

pytestmark = pytest.mark.slow

# Two rounds that do not count, then three that do.
OURS, REFERENCE = [9.0, 9.0, 0.3, 0.1, 0.2], [1.0, 1.0, 0.4, 0.9, 0.5]


def row(at_most=1.0, per=1.0):
    ours, reference = iter(OURS), iter(REFERENCE)
    return Row("a claim", at_most, lambda: Contest(lambda: next(ours), lambda: next(reference), per))


def test_a_ratio_is_that_of_the_medians_after_the_first_two_rounds():
    result = measure(row(), rounds=3)
    assert (result.ours_ms, result.reference_ms) == pytest.approx((200, 500))
    assert result.ratio == pytest.approx(0.4)


def test_a_ratio_may_be_taken_per_something():
    assert measure(row(per=4), rounds=3).ratio == pytest.approx(0.1)


def test_the_contenders_take_turns_and_no_garbage_is_collected_meanwhile():
    calls = []
    contest = Contest(
        lambda: calls.append(("ours", gc.isenabled())) or 1.0,
        lambda: calls.append(("reference", gc.isenabled())) or 1.0,
    )
    measure(Row("a claim", 1.0, lambda: contest), rounds=2)
    assert calls == [("ours", False), ("reference", False)] * 4
    assert gc.isenabled()


def test_a_sample_runs_the_work_once():
    calls = []
    assert sample_of(lambda: calls.append(1))() >= 0
    assert calls == [1]


@pytest.mark.parametrize(("at_most", "holds"), [(0.41, True), (0.39, False)])
def test_a_bound_holds_or_not(at_most, holds):
    assert measure(row(at_most), rounds=3).holds is holds


@pytest.mark.parametrize(("at_most", "code", "verdict"), [(0.41, 0, "0.41"), (0.39, 1, "too slow")])
def test_the_command_prints_stores_and_fails_on_a_broken_bound(
    at_most, code, verdict, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(command, "ROWS", [row(at_most)])
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results.json")
    assert command.main(["--rounds", "3"]) == code
    heading, line, _ = capsys.readouterr().out.splitlines()
    assert heading.split() == ["what", "ours", "reference", "ratio", "at", "most"]
    assert line.startswith("a claim")
    assert line.endswith(verdict)
    [stored] = json.loads((tmp_path / "results.json").read_text())["rows"]
    assert stored == {
        "name": "a claim",
        "ours_ms": pytest.approx(200),
        "reference_ms": pytest.approx(500),
        "ratio": pytest.approx(0.4),
        "at_most": at_most,
        "holds": code == 0,
    }


def test_one_row_can_be_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "ROWS", [row()])
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results.json")
    assert command.main(["--rounds", "3", "--row", "something else"]) == 0
    assert json.loads((tmp_path / "results.json").read_text())["rows"] == []


def test_a_line_shows_milliseconds_ratio_and_bound():
    line = command.line_of(Result("a claim", 1.234, 20.5, 0.0602, 0.05))
    assert line.split() == ["a", "claim", "1.23", "ms", "20.50", "ms", "0.0602", "0.05", "too", "slow"]
