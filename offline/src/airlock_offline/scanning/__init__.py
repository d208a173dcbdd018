"""Reading pictures and cameras in a process of its own: what opens them is not loaded where the Ledger is talked to."""
