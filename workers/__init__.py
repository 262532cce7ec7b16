"""Those who carry out: router, clock, Celery workers, the ledger and the agents."""
