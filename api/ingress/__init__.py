"""Ingress of every HTTP request: connection limits, admission, bodies, dependencies, errors."""
