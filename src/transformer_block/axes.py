"""The axis key: one letter for each axis, the same in every shape, figure and chapter.

A shape is written as its letters, outermost first: a batch of token vectors is
``B T D``. In a signature it stands as ``Float[np.ndarray, "*B T D"]``: an array of any
floating dtype, with T positions of D features behind any number of batch axes, none
included. A letter that occurs twice in one signature has one size there.
"""

from collections.abc import Mapping
from types import MappingProxyType

AXES: Mapping[str, str] = MappingProxyType(
    {
        "B": "batch",
        "T": "query position",
        "S": "key position",
        "D": "model",
        "H": "head",
        "G": "key-value head",
        "K": "head width",
        "F": "inner (feed-forward) width",
    }
)
