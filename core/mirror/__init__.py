"""The mirror: a user's memories as Markdown files that people read and edit, synchronized with the database.

Escaping, front matter, format, arrangement and diff are pure; `files` and `git` access the disk.
"""
