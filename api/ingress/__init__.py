"""What every HTTP request passes: connection limits, admission, bodies, dependencies, errors."""
