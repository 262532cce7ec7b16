"""Every figure that README quotes, as a command: `make bench`, or `python -m bench.<name>` for one of them."""
