"""Stored outputs of notebooks: run again, compared within rounding, kept where they still agree."""
