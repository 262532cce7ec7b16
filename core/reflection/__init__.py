"""Derivation from memories: episodes, skills, patterns, profiles, compression."""
