"""How fast the block is, beside what others wrote: ratios of medians, taken side by side in one run."""

import os

# Read when NumPy and torch are loaded: a ratio must not depend on who gets how many cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
