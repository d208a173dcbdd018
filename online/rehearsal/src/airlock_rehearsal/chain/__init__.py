"""The rehearsal's chain: a real EVM, the rehearsal's contracts on it, and a JSON-RPC in front.

``evm`` is the interface; ``embedded`` (py-evm, in this process) and ``node`` (an outside node on loopback) are behind it.
``interface`` encodes and decodes what the compiled contracts understand, ``deploy`` puts them on a chain, ``venue`` is the
deployed venue with its operator, and ``json_rpc`` answers for the chain as a node does.
"""
