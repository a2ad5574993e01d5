"""The code graph: a directed heterogeneous graph of directories, files, classes and functions."""
