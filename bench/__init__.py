"""Every figure in docs/benchmarks.md, as a command: `make bench`, or `python -m bench.<name>` for one of them."""
