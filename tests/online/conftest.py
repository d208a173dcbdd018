"""What the tests of the online half share: a PostgreSQL server, started for those that ask for it."""

from online.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
