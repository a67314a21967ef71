from pathlib import Path

pairs = [(a, b) for a in "abcdefgh" for b in "abcdefgh"]
lines = [f"{a},{b},{3 * (a == b) + (ord(a) * ord(b)) % 7 / 3}" for a, b in pairs]
Path("scores.csv").write_text("\n".join(["probe,gallery,score", *lines]))
Path("trials.txt").write_text(
    "\n".join(f"{a} {b} {a == b:d} {line.split(',')[2]}" for (a, b), line in zip(pairs, lines, strict=True))
)
raised = "strat recognize --similarity scores.csv --triples"
silent = "strat recognize --trials trials.txt"
