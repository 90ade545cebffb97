"""What autograd keeps between a forward and its backward, seen by its own hooks."""

from collections import Counter
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks


class Watch:
    """Counts the bytes that each child of a module is the first to keep; parameters are not counted.

    Each entry is counted once, however many views show it. What is kept of a tensor in `named`, by any
    child, stands under its name.
    """

    def __init__(self, module: nn.Module, **named: Tensor) -> None:
        self.bytes_of: Counter[str] = Counter()
        self._inside = "module"
        self._seen: dict[int, tuple[Tensor, set[int]]] = {}
        self._parameters = {each.untyped_storage().data_ptr() for each in module.parameters()}
        self._named = {each.untyped_storage().data_ptr(): name for name, each in named.items()}
        for name, child in module.named_children():
            child.register_forward_pre_hook(self._entering(name))

    def run(self, forward: Callable[[], Tensor]) -> dict[str, int]:
        """Call forward, keep its graph alive, and tell what was kept."""
        with saved_tensors_hooks(self._keep, lambda tensor: tensor):
            y = forward()
        assert y.requires_grad
        return dict(self.bytes_of)

    def _entering(self, name: str) -> Callable[..., None]:
        def enter(*_: object) -> None:
            self._inside = name

        return enter

    def _keep(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        where = storage.data_ptr()
        if where not in self._parameters:
            entries = torch.arange(storage.nbytes() // tensor.itemsize)
            shown = set(
                entries.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).ravel().tolist()
            )
            _, seen = self._seen.setdefault(where, (tensor, set()))
            name = self._named.get(where, self._inside)
            self.bytes_of[name] += len(shown - seen) * tensor.itemsize
            seen |= shown
        return tensor
