"""Forgetting on request: recognises requests, finds what they mean, decides who may ask, and erases it everywhere."""
