"""The rehearsal's chain: a real EVM, and the rehearsal's contracts on it.

``evm`` has what a chain tells, ``embedded`` is the chain: py-evm, in this process.
``interface`` encodes and decodes what the compiled contracts understand, ``sending`` sends the operator's transactions,
``venue`` is the deployed venue with its operator, and ``mempool`` has what waits to be mined.
"""
