"""A trained encoder through this package's blocks: all-MiniLM-L6-v2.

Six post-norm blocks of 384 features read a sentence; the mean of what they say of its
tokens, scaled to length 1, is the sentence as a vector. Sentences of like meaning have
vectors that point the same way: it was trained to that.

Source: Wang et al., MiniLM, 2020, arXiv:2002.10957; Reimers and Gurevych,
Sentence-BERT, 2019, arXiv:1908.10084.
"""
