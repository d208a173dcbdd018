"""What the Ethereum app is asked for beside typed data field by field, loaded only when it is asked for."""
