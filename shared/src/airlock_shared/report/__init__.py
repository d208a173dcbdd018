"""The report of a ceremony: a pure function of its artefacts, for people as one page and for machines as JSON."""
