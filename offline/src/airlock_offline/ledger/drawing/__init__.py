"""How a Ledger draws texts: its typefaces, lines and pages."""
