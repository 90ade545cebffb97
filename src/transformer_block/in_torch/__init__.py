"""The block in PyTorch: the NumPy twin's files, names and parameters, with autograd."""
