"""The block in NumPy, spelled out: forward and, by hand, backward.

Every part `f` has an `f_backward(dy, …)`: dy is the gradient of a loss with respect to
what f returned, and the same arguments follow, under the same names. It returns the
gradients with respect to f's arrays, in their order, None for one that was not given,
and changes nothing.

A part whose values are dear takes `saved`, an empty dict, and leaves in it what its
backward would compute again; a backward that is given no `saved` runs f itself. What
lies in it by name is also there to be looked at: the weights of attention, the inner
features of the feed-forward part.
"""

from typing import Any

Saved = dict[str, Any]
