import pytest

from transformer_block.axes import AXES


def test_the_key_holds_one_letter_for_each_axis():
    assert list(AXES) == ["B", "T", "S", "D", "H", "G", "K", "F"]
    assert AXES["T"] == "query position"
    assert len(set(AXES.values())) == len(AXES)


def test_the_key_cannot_be_changed():
    with pytest.raises(TypeError):
        AXES["B"] = "bathroom"
