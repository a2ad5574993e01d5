"""Tasks from a GitHub repository: issues and pull requests, paired with the commits that closed them."""
