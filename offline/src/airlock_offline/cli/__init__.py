"""The command line of the air-gapped half; each module holds commands that belong together."""
