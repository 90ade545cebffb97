"""The figures of the book: plain arrays in, a figure out. The only room that imports matplotlib."""
