"""The transformer block in NumPy, PyTorch and plain Python, with gradients by hand."""
