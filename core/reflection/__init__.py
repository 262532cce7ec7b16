"""What is derived from memories: episodes, skills, patterns, profiles, compression."""
