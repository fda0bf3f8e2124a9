"""The parts from which a photograph of a table is drawn; ``vision.render`` puts them together."""
