"""Ray-traced pictures of any game's table with exact truth, to train, tune and test the reading."""
