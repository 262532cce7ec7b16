"""Checks and vocabulary of settings: faults as sentences, host lists, limits of a tenant."""
