"""Clients of the services: HTTP, event streams, JSON-RPC, the builder."""
