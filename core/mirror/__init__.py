"""The mirror: what is remembered of a user as Markdown files that people read and edit, kept level with the database.

`escape`, `front`, `layout`, `arrange` and `diff` are pure; `files` and `git` know the disk; `sync` joins both.
"""
