"""Removes what has been kept for as long as its tenant wants."""
