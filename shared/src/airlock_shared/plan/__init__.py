"""The ceremony plan: its model, its values, its mistakes, and who decides each value."""
