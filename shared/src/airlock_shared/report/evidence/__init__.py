"""The artefacts that a report is made of, each read strictly."""
