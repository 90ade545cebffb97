"""The lines of the table, a file each."""

from benchmarks.rows import (
    cached_token,
    growth,
    numpy_forward,
    numpy_training,
    torch_forward,
    torch_products,
    torch_training,
)

ROWS = [
    torch_forward.ROW,
    torch_products.ROW,
    torch_training.ROW,
    numpy_forward.ROW,
    numpy_training.ROW,
    cached_token.ROW,
    growth.ROW,
]
