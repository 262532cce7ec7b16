"""Consolidation of candidates into changes: screening, comparing, judging."""
