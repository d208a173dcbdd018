"""The rehearsal services: builder, batched market, relayer, TWAP, core API and node, over HTTP on loopback.

They implement the specification, keep state, validate what is signed, and can be told to misbehave. Digests, encodings and
recovery come from eth-account, eth-abi and eth-keys with tables of their own (``structs``), never from Airlock's own code: a
mistake that both shared would not show. Every reply carries ``x-airlock-rehearsal: simulator``.
"""
