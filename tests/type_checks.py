"""Shapes and dtypes in the package's signatures are enforced while its tests run."""

import os

from beartype import BeartypeConf, beartype
from jaxtyping import install_import_hook

# As mypy reads it: an int will do where a float is asked for.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))


def install() -> None:
    """Check every call into transformer_block; call this before the package is imported.

    A mutation run measures what the tests notice, so it goes without.
    """
    if "MUTANT_UNDER_TEST" not in os.environ:
        install_import_hook("transformer_block", f"{__name__}.checked")
