"""The chains that a rehearsal can be on. Both have the same methods, and the tests run on both."""

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.node import NodeEvm

Evm = EmbeddedEvm | NodeEvm
"""A chain. A transaction that is taken is mined at once, in a block of its own."""
