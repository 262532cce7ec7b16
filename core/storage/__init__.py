"""PostgreSQL: roles, transactions, schema, migrations, keys kept on disk."""
