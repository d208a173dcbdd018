"""The command line of the online half; each module holds commands that belong together."""
