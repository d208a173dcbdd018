"""Requests of hot wallets (EIP-4527) as requests for a step of the plan, and the answers to them."""
