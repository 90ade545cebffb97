"""The figures of the book: plain arrays in, a figure out. Only this room draws."""
