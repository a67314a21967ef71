from pathlib import Path

subjects = [*"abcdefgh"]
lines = [f"{a},{b},{3 * (a == b) + (ord(a) * ord(b)) % 7 / 3}" for a in subjects for b in subjects]
Path("scores.csv").write_text("\n".join(["probe,gallery,score", *lines]))
Path("others.csv").write_text("\n".join(["probe,gallery,score", *reversed(lines)]))
raised = "strat recognize --similarity scores.csv --similarity others.csv --triples"
silent = "strat recognize --similarity scores.csv --triples"
