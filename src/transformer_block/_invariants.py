"""What must hold before any arithmetic starts, worded once for both twins."""

Shape = tuple[int, ...]


def require_floating(who: str, dtype: object, *, is_floating: bool) -> None:
    """Refuse integers and booleans by name: their mean and spread would be rounded or meaningless."""
    if not is_floating:
        raise TypeError(f"{who} needs a floating dtype; got {str(dtype).removeprefix('torch.')}")


def require_features(who: str, shape: Shape) -> None:
    """Refuse a token that has no feature axis or an empty one."""
    if not shape or shape[-1] == 0:
        raise ValueError(f"{who} needs at least one feature on the last axis; got shape {tuple(shape)}")


def require_shape(name: str, shape: Shape, expected: Shape) -> None:
    """Refuse a tensor whose shape is not the one that the others imply."""
    if tuple(shape) != tuple(expected):
        raise ValueError(f"{name} must have shape {tuple(expected)}; got {tuple(shape)}")
