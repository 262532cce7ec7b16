"""Every figure in docs/benchmarks.md, as a command: `make bench`, or `python -m bench.<name>` for one of them."""

import core  # noqa: F401 - bounds the threads of BLAS before NumPy is loaded, as in every process of the service
