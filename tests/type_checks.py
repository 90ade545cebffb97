"""Shapes and dtypes in the package's signatures are enforced while its tests run."""

import os

from jaxtyping import install_import_hook


def install() -> None:
    """Check every call into transformer_block; call this before the package is imported.

    A mutation run measures what the tests notice, so it goes without.
    """
    if "MUTANT_UNDER_TEST" not in os.environ:
        install_import_hook("transformer_block", "beartype.beartype")
