"""What the conceptualiser has learned: `concepts.toml` + `concepts.tsv` -> `src/doxa/recall/concepts/concepts.npz`.

Directions come from the inventory's sentences (ridge, closed form); the weights that join all evidence are fitted to
the labelled sentences of `concepts.tsv` by logistic regression with Newton steps. Held out: ten folds by sentence.

    python training/recall/concepts.py            # fit and write
    python training/recall/concepts.py --check    # only measure
"""

import sys
from pathlib import Path

import numpy as np

from doxa.backends import load
from doxa.core.errors import BackendError
from doxa.recall.concepts import concepts as c

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "src/doxa/recall/concepts/concepts.npz"
FOLDS, SEED = 10, 7
PENALTY = 1.0
LEXICON, CLASSES = c.FEATURES.index("lexicon"), c.FEATURES.index("classes")
USED = {
    "meaning": list(range(len(c.FEATURES))),
    "words": [
        i
        for i, n in enumerate(c.FEATURES)
        if n not in ("meaning", "margin", "domain", "near", "near_margin", "near_domain")
    ],
}


def labelled() -> list[tuple[str, list[str], str]]:
    """Return text, concepts and what it says of its speaker, per line."""
    rows = [
        line.split("\t") for line in (HERE / "concepts.tsv").read_text(encoding="utf-8").splitlines() if line[:1] != "#"
    ]
    return [(text, names.split(), says) for text, names, says in rows]


def truth_of(names: list[str]) -> np.ndarray:
    """Return which concepts hold, those above the named ones included."""
    known = c.inventory()
    truth = np.zeros(len(known.concepts), dtype=np.float32)
    for name in names:
        row = known.place[name]
        truth[[row, *known.above(row)]] = 1
    return truth


def logistic(x: np.ndarray, y: np.ndarray, penalty: float = PENALTY) -> np.ndarray:
    """Return the weights of a logistic regression, by Newton's method; the first feature, a constant, is free."""
    x, w = x.astype(np.float64), np.zeros(x.shape[1])
    ridge = penalty * np.eye(x.shape[1])
    ridge[0, 0] = 1e-6
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + ridge, x.T @ (y - p) - ridge @ w)
        w += step
        if np.abs(step).max() < 1e-8:
            break
    return w.astype(np.float32)


def fit(tables: np.ndarray, truths: np.ndarray) -> dict[str, np.ndarray]:
    """Return the weights for domains and kinds, with a vector and without."""
    known = c.inventory()
    own = known.domains
    found = {}
    for seen, used in USED.items():
        for level, rows in (("domain", own), ("kind", ~own)):
            weights = np.zeros(len(c.FEATURES), dtype=np.float32)
            x = tables[:, rows][:, :, used].reshape(-1, len(used))
            weights[used] = logistic(x, truths[:, rows].reshape(-1))
            if weights[LEXICON] < 0:  # what speaks for a concept never counts against it: fitted again without it
                kept = [i for i in used if i != LEXICON]
                weights[:] = 0
                weights[kept] = logistic(
                    tables[:, rows][:, :, kept].reshape(-1, len(kept)), truths[:, rows].reshape(-1)
                )
            weights[CLASSES] = weights[LEXICON]  # the labels have no claims; both say what a thing is a kind of
            found[f"{level}_{seen}"] = weights
    return found


def scores(chosen: list[np.ndarray], truths: np.ndarray, which: np.ndarray) -> tuple[float, float, float]:
    """Return precision, recall and F1 over all pairs of sentence and concept."""
    picked = np.array(chosen)[:, which] > 0
    hit = (picked & (truths[:, which] > 0)).sum()
    p, r = hit / max(1, picked.sum()), hit / max(1, truths[:, which].sum())
    return p, r, 2 * p * r / max(1e-9, p + r)


def main() -> None:
    """Fit, measure held out, write."""
    known, encoder = c.inventory(), load("encoder", "builtin")
    try:
        lexicon = load("lexicon", "wordnet")
    except BackendError:
        lexicon = None
    texts, truth = known.texts()
    cache = Path(sys.argv[sys.argv.index("--cache") + 1]) if "--cache" in sys.argv else None
    if cache and cache.exists() and len(np.load(cache)) == len(texts):
        vectors = np.load(cache)
    else:
        vectors = encoder.encode(texts)
        if cache:
            np.save(cache, vectors)
    print(f"{len(known.concepts)} concepts, {len(texts)} sentences of the inventory")
    rows = labelled()
    encoded = encoder.encode([text for text, _, _ in rows])
    truths = np.array([truth_of(names) for _, names, _ in rows])
    own = known.domains
    folds = np.random.default_rng(SEED).integers(0, FOLDS, len(rows))
    shipped = c._shipped()
    for ridge, balance in (
        [(r, b) for r in (0.3, 1.0, 3.0) for b in (0.0, 0.5, 1.0)] if "--grid" in sys.argv else [(c.RIDGE, c.BALANCE)]
    ):
        c.BALANCE = balance
        shipped["directions"] = c.fit_directions(vectors, truth, ridge).astype(np.float16).astype(np.float32)
        tables = np.array([c.evidence_of(t, v, lexicon=lexicon).T for (t, _, _), v in zip(rows, encoded, strict=True)])
        weights = np.zeros_like(truths)
        for fold in range(FOLDS):
            shipped.update(fit(tables[folds != fold], truths[folds != fold]))
            for number in np.flatnonzero(folds == fold):
                weights[number] = c._weights_of(tables[number].T)
        for least in (0.2, 0.3, 0.4):
            chosen = [np.where(w >= max(least, np.sort(w)[-c.MOST]), w, 0) for w in weights]
            told = [
                f"{name} P {p:.3f} R {r:.3f} F1 {f:.3f}"
                for name, which in (("domain", own), ("kind", ~own))
                for p, r, f in [scores(chosen, truths, which)]
            ]
            print(f"ridge {ridge}, balance {c.BALANCE}, least {least}: {'; '.join(told)}")
        top = [own_best(w, own) for w in weights]
        about = truths[:, own].sum(axis=1) > 0
        print(
            "domain of the greatest weight is right:",
            np.mean([t[b] for t, b in zip(truths[about], np.array(top)[about], strict=True)]).round(3),
        )
    if "--show" in sys.argv:
        for (text, _, _), w, t in zip(rows, weights, truths, strict=True):
            got = {known.concepts[i].name: round(float(w[i]), 2) for i in np.argsort(-w)[: c.MOST] if w[i] >= c.LEAST}
            want = {known.concepts[i].name for i in np.flatnonzero(t)}
            if set(got) != want:
                print(
                    text, "| want", sorted(want - set(got)), "| extra", {k: v for k, v in got.items() if k not in want}
                )
    final = fit(tables, truths)
    print({name: dict(zip(c.FEATURES, value.round(2).tolist(), strict=True)) for name, value in final.items()})
    if "--check" not in sys.argv:
        kept = {name: value for name, value in shipped.items() if name not in final and name != "directions"}
        np.savez_compressed(OUT, directions=shipped["directions"].astype(np.float16), **final, **kept)
        print(f"wrote {OUT.name}, {OUT.stat().st_size} bytes")


def own_best(weights: np.ndarray, own: np.ndarray) -> int:
    """Return the row of the domain with the greatest weight."""
    return int(np.argmax(np.where(own, weights, -1)))


if __name__ == "__main__":
    main()
