"""The rehearsal's chain: a real EVM, the rehearsal's contracts on it, and a JSON-RPC in front.

``evm`` has what a chain tells, ``embedded`` is the chain: py-evm, in this process.
``interface`` encodes and decodes what the compiled contracts understand, ``deploy`` puts them on a chain, ``venue`` is the
deployed venue with its operator, ``mempool`` has what waits to be mined, and ``json_rpc`` answers as a node does.
"""
