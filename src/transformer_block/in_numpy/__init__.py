"""The block in NumPy, spelled out: forward and, by hand, backward."""
