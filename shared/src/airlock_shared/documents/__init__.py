"""The documents that cross the gap or stay as a record: deployment, requests, signatures, transcript."""
