"""The Ledger: APDUs, status words, transports, the Ethereum app's client, and what its screen will show."""
