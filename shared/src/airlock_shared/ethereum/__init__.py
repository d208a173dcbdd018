"""EIP-712, ABI encoding, addresses, keccak-256 and recovery: the rules of Ethereum, and nothing of a venue."""
