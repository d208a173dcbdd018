"""The page of the report's first form, kept as it was: reports that are filed are verified with it."""
