"""The built book, which the tests of its pages look into."""

from tests.built import COURSE, book

__all__ = ["COURSE", "book"]
