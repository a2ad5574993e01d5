"""Training data for localization: gold locations with hard negatives, and what accepted patches touched."""
