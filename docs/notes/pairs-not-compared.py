from pathlib import Path

subjects = [*"abcdefgh"]
lines = [f"{a},{b},{3 * (a == b) + (ord(a) * ord(b)) % 7 / 3}" for a in subjects for b in subjects]
Path("scores.csv").write_text("\n".join(["probe,gallery,score", *lines]))
Path("some.csv").write_text("\n".join(["probe,gallery,score", *lines[::2], *lines[::9]]))
raised = "strat recognize --similarity some.csv --triples"
silent = "strat recognize --similarity scores.csv --triples"
