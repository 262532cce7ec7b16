"""Builds, describes, signs and publishes a release: `python -m deploy.release`."""
