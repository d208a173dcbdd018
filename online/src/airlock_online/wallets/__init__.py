"""What other wallets are shown, and what they answer."""
