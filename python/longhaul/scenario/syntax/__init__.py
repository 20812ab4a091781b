"""The text of a scenario: YAML with the place of each value, quantities, ranges of names, problems."""
