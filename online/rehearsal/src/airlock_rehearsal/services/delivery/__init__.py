"""The services that take signatures: batched market, relayer, core API, TWAP, relay."""
