"""Checks of `imprint doctor`, by subject; `table.py` lists them all."""
