"""The ledger of dispatches: claiming, leases, retries, fair shares, sweeps."""
