"""Restores an uploaded archive, file by file, in bounded transactions."""
