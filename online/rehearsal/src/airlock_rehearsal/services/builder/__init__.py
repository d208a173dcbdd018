"""The builder of the rehearsal."""
