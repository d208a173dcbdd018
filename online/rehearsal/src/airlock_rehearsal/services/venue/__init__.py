"""The venue behind the rehearsal's services: its state, its rules, its settlement on the chain."""
