import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from block_course.grading.store import Store, StoreError, Unknown
from tests.block_course.grading.graded import mark, result


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as store:
        yield store


def gradings(folder: Path) -> int:
    return int(asked(folder, "SELECT count(*) FROM block_course_gradings"))


def asked(folder: Path, question: str) -> object:
    with closing(sqlite3.connect(folder / "store.db")) as database, database:
        answer = database.execute(question).fetchone()
    return answer[0] if answer else None


def test_what_is_kept_is_there_when_the_store_is_opened_again(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep("k1", result("bob"))
        store.keep("k2", result("ann"))

    with Store(tmp_path) as store:
        assert store.give("k1", "bob", "bob/00_tiny.ipynb") == result("bob")
        assert store.give("k3", "bob", "bob/00_tiny.ipynb") is None
        assert list(store.latest()) == [{**result("ann"), "attempt": 1}, {**result("bob"), "attempt": 1}]


def test_other_bytes_are_another_attempt_and_the_latest_counts(store: Store) -> None:
    store.keep("k1", result(points=1.0, content="first"))
    store.keep("k2", result(points=2.0, content="second"))
    store.keep("k3", result(points=3.0, assignment="01_other"))
    assert [(each["attempt"], each["points"]) for each in store.latest()] == [(2, 2.0), (1, 3.0)]

    store.give("k1", "ann", "f")

    assert [(each["attempt"], each["points"]) for each in store.latest()] == [(3, 1.0), (1, 3.0)]


def test_the_same_bytes_graded_again_are_the_same_attempt(store: Store) -> None:
    store.keep("k1", result(points=1.0))
    store.keep("under other limits", result(points=2.0))

    assert [(each["attempt"], each["points"]) for each in store.latest()] == [(1, 2.0)]


def test_giving_adds_no_grading_and_serves_whoever_handed_in_the_same(store: Store, tmp_path: Path) -> None:
    store.keep("k1", result("ann"))

    theirs = store.give("k1", "bob", "bob/00_tiny (1).ipynb")
    store.give("k1", "ann", "moved.ipynb")

    assert theirs == {**result("bob"), "file": "bob/00_tiny (1).ipynb"}
    assert [(each["learner"], each["file"]) for each in store.latest()] == [
        ("ann", "moved.ipynb"),
        ("bob", "bob/00_tiny (1).ipynb"),
    ]
    assert gradings(tmp_path) == 1


def test_a_result_of_an_error_of_the_grader_is_kept_but_not_given(store: Store) -> None:
    store.keep("k1", result(points=None))

    assert store.give("k1", "ann", "f") is None
    assert [each["points"] for each in store.latest()] == [None]


def test_the_newest_grading_under_a_key_is_given(store: Store) -> None:
    store.keep("k1", result(points=None))
    store.keep("k1", result(points=2.0))

    given = store.give("k1", "ann", "f")

    assert given is not None
    assert given["points"] == 2.0


def test_learners_whose_names_differ_by_case_or_by_writing_are_two(store: Store) -> None:
    for name in ("Zoe", "zoe", "Zo\u00eb", "Zoe\u0308"):
        store.keep("k", result(name))

    assert len(list(store.latest())) == 4


def test_many_results_come_in_the_order_of_their_learners(store: Store) -> None:
    names = [f"l{number:03}" for number in range(230)]
    for name in reversed(names):
        store.keep(name, result(name))

    assert [each["learner"] for each in store.latest()] == names


def test_a_change_that_fails_half_way_leaves_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("block_course.grading.store._point", fail)
        with pytest.raises(KeyboardInterrupt):
            store.keep("k1", result())

    assert gradings(tmp_path) == 0
    assert list(store.latest()) == []
    store.keep("k1", result())
    assert len(list(store.latest())) == 1


def test_two_stores_on_one_database_count_attempts_together(store: Store, tmp_path: Path) -> None:
    with Store(tmp_path / "elsewhere", f"sqlite:///{tmp_path / 'store.db'}") as other:
        store.keep("k1", result(content="first"))
        other.keep("k2", result(content="second"))

    assert [each["attempt"] for each in store.latest()] == [2]


def test_points_and_words_of_a_person_stand_before_those_of_the_grader(store: Store) -> None:
    store.keep("k1", result(marks=(mark("tiny.f", points=2.5), mark("tiny.g", points=1.0))))

    store.mark("ann", "00_tiny", "tiny.g", points=3.0, comment="shown in class")
    told = store.mark("ann", "00_tiny", comment="well done")

    assert (told["points"], told["comment"]) == (5.5, "well done")
    assert told["exercises"][1]["points"] == 3.0
    assert told["exercises"][1]["automatic"] == 1.0
    assert told["exercises"][1]["comment"] == "shown in class"
    assert "automatic" not in told["exercises"][0]
    assert list(store.latest()) == [told]


def test_they_survive_another_grading_and_stay_with_their_attempt(store: Store) -> None:
    store.keep("k1", result(points=1.0, content="first"))
    store.mark("ann", "00_tiny", "tiny.f", points=2.0)

    store.keep("under other limits", result(points=0.0, content="first"))
    assert [each["points"] for each in store.latest()] == [2.0]

    store.keep("k2", result(points=0.5, content="second"))
    assert [each["points"] for each in store.latest()] == [0.5]


def test_what_is_not_said_anew_stays_and_saying_nothing_takes_it_away(store: Store) -> None:
    store.keep("k1", result(points=1.0))
    store.mark("ann", "00_tiny", "tiny.f", points=0.0, comment="copied")

    assert store.mark("ann", "00_tiny", "tiny.f", comment="no: your own")["points"] == 0.0
    assert store.mark("ann", "00_tiny", "tiny.f", points=3.0)["exercises"][0]["comment"] == "no: your own"
    taken = store.mark("ann", "00_tiny", "tiny.f")

    assert taken["points"] == 1.0
    assert "comment" not in taken["exercises"][0]


def test_a_person_can_give_points_where_the_grader_failed(store: Store) -> None:
    store.keep("k1", result(points=None))

    assert store.mark("ann", "00_tiny", "tiny.f", points=3.0)["points"] == 3.0


@pytest.mark.parametrize(
    ("place", "points", "sentence"),
    [
        (("bob", "00_tiny", "tiny.f"), 1.0, "there is no submission of bob for 00_tiny"),
        (("ann", "01_other", "tiny.f"), 1.0, "there is no submission of ann for 01_other"),
        (("ann", "00_tiny", "tiny.h"), 1.0, "00_tiny has no exercise tiny.h; it has tiny.f"),
        (("ann", "00_tiny", ""), 1.0, "points are given for an exercise; name one"),
        (("ann", "00_tiny", "tiny.f"), 3.5, "tiny.f is worth 0 to 3 points; got 3.5"),
        (("ann", "00_tiny", "tiny.f"), -1.0, "tiny.f is worth 0 to 3 points; got -1"),
        (("ann", "00_tiny", "tiny.f"), float("nan"), "tiny.f is worth 0 to 3 points; got nan"),
    ],
)
def test_marks_that_can_not_be_are_refused(
    store: Store, place: tuple[str, str, str], points: float, sentence: str
) -> None:
    store.keep("k1", result())

    with pytest.raises((Unknown, ValueError), match=sentence):
        store.mark(*place, points=points)

    assert [each["points"] for each in store.latest()] == [2.5]


def test_what_is_noted_of_a_run_takes_the_place_of_the_last_ones(store: Store) -> None:
    assert store.noted() == {}
    store.note({"schema": 3})
    store.note({"schema": 3, "walls": []})

    assert store.noted() == {"schema": 3, "walls": []}


def test_what_the_database_refuses_is_one_sentence_without_the_data(store: Store, tmp_path: Path) -> None:
    store.keep("k1", result("ann"))
    asked(tmp_path, "DROP TABLE block_course_gradings")

    with pytest.raises(StoreError) as refused:
        store.keep("k2", result("bob's own words"))
    with pytest.raises(StoreError):
        next(store.latest())

    assert str(refused.value) == "the store refused: no such table: block_course_gradings"


def test_numbers_that_are_none_are_not_kept(store: Store, tmp_path: Path) -> None:
    with pytest.raises((StoreError, ValueError)):
        store.keep("k1", result(points=float("nan")))

    assert gradings(tmp_path) == 0
