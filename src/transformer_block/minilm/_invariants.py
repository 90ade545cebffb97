"""What must hold of tokens before either encoder reads them."""

from collections.abc import Sequence

from transformer_block._invariants import Shaped, require_integers


def require_tokens(
    ids: Shaped,
    rows: Sequence[Sequence[int]],
    lengths: Sequence[int],
    vocabulary: int,
    places: int,
) -> None:
    """Sentences of at least one known token, and a place for every position.

    rows are the ids once more, as Python's integers. That no length is longer than a
    row is the padding mask's to see.
    """
    require_integers("ids", ids)
    if len(ids.shape) != 2:
        raise ValueError(f"ids must have shape (B, T); got {tuple(ids.shape)}")
    batch, width = ids.shape
    if len(lengths) != batch:
        raise ValueError(f"{batch} sentences need {batch} lengths; got {len(lengths)}")
    if not all(lengths):
        raise ValueError("a sentence has at least one token; got length 0")
    if width > places:
        raise ValueError(f"there are {places} positions; {width} are asked for")
    for token in (token for row in rows for token in row):
        if not 0 <= token < vocabulary:
            raise ValueError(
                f"tokens are numbered from 0 to {vocabulary - 1}; got {token}"
            )
