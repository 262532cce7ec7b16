"""Commands about the installation: its processes, checks, backups and benches."""
