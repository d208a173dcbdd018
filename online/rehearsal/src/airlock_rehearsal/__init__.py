"""The rehearsal: a whole ceremony on one machine, with simulated services and a software Ledger."""
