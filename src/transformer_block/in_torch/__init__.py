"""The block in PyTorch: the NumPy twin's files, names and parameters, differentiable.

A part that takes `saved`, an empty dict, leaves in it what there is to look at: the
weights of attention, the inner features of the feed-forward part.
"""

from typing import Any

Saved = dict[str, Any]
