"""What can be signed: structs, contract calls, actions, and EIP-1559 transactions."""
