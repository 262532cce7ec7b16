"""Commands about dispatches, their costs, and the state of the service."""
