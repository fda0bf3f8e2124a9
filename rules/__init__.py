"""The rules of the games and the record of what was played; standard library only."""
