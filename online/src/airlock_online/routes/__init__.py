"""Where signed intents go, one module a destination: ``send`` posts once, ``read`` asks what became of it."""
