"""What is looked at before a ceremony: one module a family of probes, each a judgement over a machine that is passed in."""
