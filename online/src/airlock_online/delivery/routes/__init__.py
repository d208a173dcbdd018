"""Where signed things go, one module a destination, all of one form: ``registry.Route``."""
