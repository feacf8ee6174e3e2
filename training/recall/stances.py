"""What tells a stance: `concepts.tsv` and the inventory's words in plain frames -> `recall/concepts/stances.npz`.

A softmax regression with L2 on the vector; held out: ten folds by sentence.

    python training/recall/stances.py [--check] [--show]
"""

import sys
from pathlib import Path

import numpy as np
from concepts import FOLDS, SEED, labelled

from doxa.backends import load
from doxa.recall.concepts import stances as s
from doxa.recall.concepts.concepts import inventory
from doxa_bench.implicit import WORKLOADS
from doxa_bench.implicit.material import fill, talk, workload

OUT = Path(__file__).parents[2] / "src/doxa/recall/concepts/stances.npz"
FRAMES = {
    "prefers": (
        "I love {}.",
        "I'm a big fan of {}.",
        "{} is my favourite.",
        "Give me {} any day.",
        "We had {} and it was wonderful.",
    ),
    "dislikes": ("I can't stand {}.", "I'm not a fan of {}.", "{} is not for me.", "{} was a waste of time."),
    "avoids": ("I never go for {}.", "I avoid {}.", "No {} for me, please.", "I stay away from {}."),
    "does": ("I usually go for {}.", "{} is part of my routine.", "Every week I have some {}.", "I always choose {}."),
    "": (
        "We talked about {}.",
        "What is {}?",
        "My brother loves {}.",
        "They have {} there.",
        "Can you suggest {}?",
        "She told me about {}.",
        "Do you like {}?",
        "I used to love {}.",
        "Have you ever tried {}?",
    ),
}
TELLS = {
    ("like", ""): "prefers", ("like", "habit"): "does", ("dislike", ""): "dislikes", ("revised", "against"): "dislikes",
    ("revised", "towards"): "prefers", ("near", ""): "", ("near", "assistant"): None,
}  # fmt: skip
"""What the frames of a world tell, by group and kind; None leaves them out."""
FILLS, OF_WORLDS = 3, 0.3
"""How often each frame of a world is filled, and what such a sentence weighs."""
EACH = 60
"""Words that every kind of frame is filled with."""
FRAMED = 0.15
"""Weight of a framed sentence; a labelled one weighs 1."""
PENALTY_PROBE, PENALTY_CUES = 12.0, 0.5


def softmax(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Return the weights `(classes, features)` of a softmax regression, by L-BFGS."""
    from scipy.optimize import minimize

    classes, size = len(s.KINDS), x.shape[1]
    onehot = np.eye(classes)[y]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        w = flat.reshape(classes, size)
        z = x @ w.T
        z -= z.max(axis=1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        value = -(weight[:, None] * onehot * log_p).sum() + 0.5 * (penalty * w**2).sum()
        gradient = ((np.exp(log_p) - onehot) * weight[:, None]).T @ x + penalty * w
        return value, gradient.ravel()

    return minimize(loss, np.zeros(classes * size), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x.reshape(
        classes, size
    )


def framed() -> list[tuple[str, int]]:
    """Return sentences made of frames and words of the inventory, drawn with a seed."""
    random = np.random.default_rng(SEED)
    words = sorted({word for concept in inventory().concepts for word in concept.cues})
    return [
        (frame.format(word), s.KINDS.index(kind))
        for kind, frames in FRAMES.items()
        for frame in frames
        for word in random.choice(words, EACH // len(frames), replace=False)
    ]


def of_worlds() -> list[tuple[str, int]]:
    """Return sentences of the training worlds of the implicit benchmark, whose frames say what they tell."""
    random, found = np.random.default_rng(SEED), []
    for name in WORKLOADS:
        world = workload(name, "train")
        with_things = np.array(
            [concept for concept in world.concepts if concept.things and concept.aspects], dtype=object
        )
        for concept in world.concepts:
            found += [(text, s.KINDS.index("prefers")) for text in concept.said.get("like", ())]
            found += [(text, s.KINDS.index("avoids")) for text in concept.said.get("dislike", ())]
        for group, frames in world.frames.items():
            for kind, texts in frames.items():
                tells = TELLS.get((group, kind), TELLS.get((group, "")))
                for text in texts if tells is not None else ():
                    for _ in range(FILLS):
                        concept = random.choice(with_things)
                        thing, aspect = str(random.choice(concept.things)), str(random.choice(concept.aspects))
                        slots = {"thing": thing, "other": "the other one", "aspect": aspect, "label": concept.label}
                        found.append((fill(text, slots), s.KINDS.index(tells)))
    return [*found, *((user, 0) for user, _ in talk("train").small)]


def main() -> None:
    """Fit, measure held out, write."""
    encoder = load("encoder", "builtin")
    told = [(text, s.KINDS.index(says)) for text, _, says in labelled()]
    made, drawn = framed(), of_worlds()
    texts = [text for text, _ in (*told, *made, *drawn)]
    y = np.array([kind for _, kind in (*told, *made, *drawn)])
    cues, vectors = np.array([s.cues_of(text) for text in texts]), encoder.encode(texts)
    weight = np.array([1.0] * len(told) + [FRAMED] * len(made) + [OF_WORLDS] * len(drawn))
    folds = np.concatenate(
        [np.random.default_rng(SEED).integers(0, FOLDS, len(told)), np.full(len(made) + len(drawn), -1)]
    )
    kinds = {
        "words": (cues, np.full(len(s.CUES), PENALTY_CUES)),
        "meaning": (
            np.hstack([cues, vectors]),
            np.array([PENALTY_CUES] * len(s.CUES) + [PENALTY_PROBE * 0.1] * vectors.shape[1]),
        ),
    }
    final = {}
    for name, (x, penalty) in kinds.items():
        guess, sure = np.zeros(len(told), dtype=int), np.zeros((len(told), len(s.KINDS)))
        for fold in range(FOLDS):
            w = softmax(x[folds != fold], y[folds != fold], weight[folds != fold], penalty)
            for i in np.flatnonzero(folds == fold):
                z = np.exp(x[i] @ w.T - (x[i] @ w.T).max())
                sure[i], guess[i] = z / z.sum(), int(z.argmax())
        truth = y[: len(told)]
        said, meant = guess > 0, truth > 0
        sign = {0: 0, 1: 1, 2: -1, 3: -1, 4: 1}
        both = said & meant
        polarity = np.mean([sign[a] == sign[b] for a, b in zip(guess[both], truth[both], strict=True)])
        precision, recall = both.sum() / said.sum(), both.sum() / meant.sum()
        print(f"{name}: 5 classes {np.mean(guess == truth):.3f}; says something P {precision:.3f} R {recall:.3f}")
        print(f"  polarity right {polarity:.3f}")
        if "--show" in sys.argv and name == "meaning":
            for i, (text, kind) in enumerate(told):
                if sign[guess[i]] != sign[kind]:
                    print(
                        "   ",
                        text,
                        "| is",
                        s.KINDS[kind] or "-",
                        "| got",
                        s.KINDS[guess[i]] or "-",
                        round(float(sure[i].max()), 2),
                    )
        w = softmax(x, y, weight, penalty).astype(np.float32)
        final[f"cues_{name}"] = w[:, : len(s.CUES)]
        if name == "meaning":
            final["probe"] = w[:, len(s.CUES) :].astype(np.float16)
    if "--check" not in sys.argv:
        np.savez_compressed(OUT, **final)
        print(f"wrote {OUT.name}, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
