"""Router, clock, Celery workers, the ledger and the agents."""
