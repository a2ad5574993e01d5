"""Dense vectors of entities, rank fusion and reranking (the optional extra `codeforge[dense]`)."""
