"""What the gate of promotions has learned: generated worlds -> `src/doxa/recall/concepts/promote.toml`.

In every world somebody has a few lasting ties to concepts, tells of them over weeks, and says much else: things liked
once, other people's tastes, a burst about something for one evening, a mind that was changed. The turns are read as the
engine reads them; a candidate is right when its tie is one that lasts. Logistic regression, held out by world.

    python training/recall/promotion.py [--worlds 160] [--check]
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from concepts import logistic

from doxa.backends import load
from doxa.backends.encoder import CachedEncoder
from doxa.core.values import Turn
from doxa.memory import UserState
from doxa.recall.concepts import promote as p
from doxa.recall.concepts.concepts import Concept, inventory, named_in

OUT = Path(__file__).parents[2] / "src/doxa/recall/concepts/promote.toml"
SEED, FOLDS = 11, 10
FRAMES = {
    "prefers": (
        "I could never get tired of {}.",
        "Honestly, {} makes me so happy.",
        "If you ask me, {} is the best.",
        "I'm crazy about {}.",
        "We did {} again last week and I loved it.",
        "I'd pick {} over anything else.",
        "{} has always been close to my heart.",
        "I had such a great time with {} yesterday.",
        "I really like {}.",
        "{}, that's so me.",
        "I was thrilled to find {}.",
    ),
    "dislikes": (
        "I never understood what people see in {}.",
        "{} just annoys me.",
        "I really don't like {}.",
        "I tried {} and hated it.",
        "{} makes me uncomfortable.",
        "I find {} so boring.",
        "Ugh, {} again. Not my thing.",
        "I don't enjoy {} at all.",
    ),
    "avoids": (
        "I won't have {}.",
        "I keep away from {}.",
        "I don't do {} any more.",
        "Please, nothing with {}.",
        "I gave up {} years ago.",
        "I refuse {} whenever it comes up.",
    ),
    "does": (
        "I do {} every week.",
        "Most evenings it is {} for me.",
        "As a rule I go for {}.",
        "On Sundays there is always {}.",
        "I've had {} in my routine for years.",
        "I tend to pick {}.",
    ),
    "": (
        "My sister is into {}.",
        "There was something about {} in the news.",
        "Do you know anything about {}?",
        "He asked me about {}.",
        "What can you tell me about {}?",
        "They talked about {} all evening.",
        "Somebody mentioned {} today.",
        "My boss can't stand {}.",
        "I saw a sign for {} on the way.",
        "Could you find out more about {}?",
        "The shop next door sells {}.",
    ),
}
ONCE = (
    "{} was nice for a change.",
    "I kind of liked {} this time.",
    "We had {} for my friend's birthday, it was fun.",
    "For once I enjoyed {}.",
)
TALK = (
    "The train was late again.",
    "I slept badly.",
    "My cousin is visiting.",
    "It rained all day.",
    "Remind me of it tomorrow.",
    "Thanks!",
    "I lost my umbrella.",
    "The lift is broken.",
    "What day is it?",
    "I have to call the landlord.",
    "See you.",
    "The neighbours moved out.",
    "That was a long day.",
    "I am on my way.",
    "Can you help me with a letter?",
    "My phone is nearly dead.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn of a world, and the lasting tie that it tells, if any."""

    at: datetime
    session: str
    text: str
    about: str


def word_of(concept: Concept, random: np.random.Generator, *, names: bool) -> str:
    """Return something that belongs to a concept: a word for it, or, where it has such, a name or a looser word."""
    loose = [*concept.like, *concept.hints] if names else []
    return str(random.choice(loose or [*concept.cues, *concept.like] or [concept.label]))


def world_of(random: np.random.Generator, kinds: list[Concept]) -> tuple[list[Said], dict[str, bool]]:
    """Return what is said, and the ties that last: concept -> well-disposed."""
    drawn = list(random.choice(len(kinds), int(random.integers(16, 22)), replace=False))
    sessions, names = int(random.integers(4, 12)), bool(random.random() < 0.5)
    start = datetime(2025, 1, 1, tzinfo=UTC)
    days = np.sort(random.integers(0, 200, sessions))
    told: list[tuple[int, str, str]] = []
    lasting: dict[str, bool] = {}

    def say(concept: Concept, tie: str, count: int, where: np.ndarray | None = None) -> None:
        places = random.integers(0, sessions, count) if where is None else where
        for place in places:
            about = concept.name if concept.name in lasting and tie else ""
            told.append(
                (int(place), str(random.choice(FRAMES[tie])).format(word_of(concept, random, names=names)), about)
            )

    for _ in range(int(random.integers(3, 7))):  # lasting
        concept = kinds[drawn.pop()]
        tie = str(random.choice(["prefers", "prefers", "dislikes", "avoids", "does"]))
        lasting[concept.name] = tie in ("prefers", "does")
        say(concept, tie, int(random.integers(3, 8)))
        if random.random() < 0.3:
            say(concept, "", 1)
    for _ in range(int(random.integers(2, 4))):  # talked about, not of oneself
        say(kinds[drawn.pop()], "", int(random.integers(2, 6)))
    concept, evening = kinds[drawn.pop()], int(random.integers(0, sessions))  # for one evening
    say(concept, "prefers", int(random.integers(3, 6)), np.full(int(random.integers(3, 6)), evening))
    concept, half = kinds[drawn.pop()], sessions // 2  # a mind that was changed
    say(concept, "prefers", 3, random.integers(0, max(1, half), 3))
    say(concept, str(random.choice(["dislikes", "avoids"])), 3, random.integers(half, sessions, 3))
    for _ in range(int(random.integers(1, 3))):  # now this, now that
        concept = kinds[drawn.pop()]
        say(concept, "prefers", 2)
        say(concept, "dislikes", 2)
    while drawn:  # once or twice
        concept = kinds[drawn.pop()]
        for _ in range(int(random.integers(1, 3))):
            text = str(random.choice(ONCE)).format(word_of(concept, random, names=names))
            told.append((int(random.integers(0, sessions)), text, ""))
    told += [(int(random.integers(0, sessions)), str(text), "") for text in random.choice(TALK, 40)]
    random.shuffle(told)
    told.sort(key=lambda one: one[0])
    said = [
        Said(at=start + timedelta(days=int(days[place]), minutes=n), session=f"s{place}", text=text, about=about)
        for n, (place, text, about) in enumerate(told)
    ]
    return said, lasting


def read(said: list[Said], encoder: CachedEncoder) -> tuple[UserState, p.Candidates]:
    """Return the state and the candidates after everything was said."""
    state, vectors = (
        UserState(user="u", dims=encoder.dims, encoder=encoder.name),
        encoder.encode([one.text for one in said]),
    )
    for number, (one, vector) in enumerate(zip(said, vectors, strict=True), start=1):
        turn = Turn(
            turn_id=f"t{number}", user="u", session=one.session, speaker="Ana", role="user",
            text=one.text, at=one.at, ordinal=number,
        )  # fmt: skip
        state.receive(turn)
        state.maintain(turn, [], [], vector)
    candidates = p.Candidates()
    candidates.read(state, most=len(said))
    return state, candidates


def lasts(mine: list[p.Assertion], positive: bool, said: list[Said], lasting: dict[str, bool]) -> bool:
    """Tell whether enough of what speaks for a candidate tells a lasting tie of its sign and domain.

    Two thirds for a kind; a third for a domain, which may be liked for one of its kinds. So a candidate whose concept
    is a neighbour of what was meant, and is as well named by the same words, is right.
    """
    concept = mine[0].concept
    told = [said[one.ordinal - 1] for one in mine]
    good = [
        bool(one.about) and lasting[one.about] is positive
        and (one.about.partition("/")[0] == concept.partition("/")[0] or concept in named_in(one.text))
        for one in told
    ]  # fmt: skip
    above = any(other.parent == concept for other in inventory().concepts)
    return sum(good) >= (1 / 3 if above and positive else 2 / 3) * len(good)


AGAINST = ("concentration", "opposed")
"""Features that speak against a candidate; all others but the constant speak for it."""


def fitted(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weights; a feature that would count the wrong way is left out and the rest fitted again."""
    signs = np.array([-1 if name in AGAINST else 1 for name in p.FEATURES])
    used = list(range(len(p.FEATURES)))
    while True:
        weights = np.zeros(len(p.FEATURES), dtype=np.float32)
        weights[used] = logistic(x[:, used], y)
        wrong = [i for i in used[1:] if weights[i] * signs[i] < 0]
        if not wrong:
            return weights
        used.remove(min(wrong, key=lambda i: weights[i] * signs[i]))


def main() -> None:
    """Generate, fit, measure held out, write."""
    options = argparse.ArgumentParser()
    options.add_argument("--worlds", type=int, default=160)
    options.add_argument("--check", action="store_true")
    options.add_argument("--show", action="store_true")
    options = options.parse_args()
    random = np.random.default_rng(SEED)
    kinds = [one for one in inventory().concepts if one.parent and not p.is_private(one.name)]
    encoder = CachedEncoder(load("encoder", "builtin"))
    rows, labels, worlds, declined = [], [], [], Counter()
    for number in range(options.worlds):
        said, lasting = world_of(random, kinds)
        state, candidates = read(said, encoder)
        for key in list(candidates._told):
            subject, concept, positive = key
            mine = candidates._told[key]
            against = candidates._told.get((subject, concept, not positive), [])
            right = lasts(mine, positive, said, lasting)
            reason = p._declined(concept, mine, p._opposed(mine, against), p.Gate())
            declined[reason, right] += 1
            if reason:
                continue
            if options.show and not right and number < 12:
                print(
                    key,
                    [
                        (one.tie, round(one.confidence, 2), said[one.ordinal - 1].text, said[one.ordinal - 1].about)
                        for one in mine
                    ],
                )
            rows.append(p.features_of(mine, against, state))
            labels.append(right)
            worlds.append(number)
    x, y, worlds = np.array(rows), np.array(labels, dtype=float), np.array(worlds)
    print(f"{options.worlds} worlds, {len(y)} candidates past the guardrails, {y.mean():.3f} of them right")
    print(f"  declined before: {dict(declined)}")
    guess = np.zeros(len(y))
    for fold in range(FOLDS):
        out = worlds % FOLDS == fold
        guess[out] = 1 / (1 + np.exp(-(x[out] @ fitted(x[~out], y[~out]))))
    order = np.argsort(guess)
    ranks = np.empty(len(y))
    ranks[order] = np.arange(1, len(y) + 1)
    auc = (ranks[y > 0].sum() - (y > 0).sum() * ((y > 0).sum() + 1) / 2) / ((y > 0).sum() * (y == 0).sum())
    bins = np.clip((guess * 10).astype(int), 0, 9)
    error = sum(abs(guess[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    print(f"held out: AUC {auc:.3f}, calibration error {error:.3f}")
    for tau in (0.5, 0.6, 0.7, 0.8, 0.9):
        lifted = guess > tau
        found = (lifted & (y > 0)).sum()
        precision, recall = found / max(1, lifted.sum()), found / y.sum()
        print(f"  tau {tau}: lifts {lifted.mean():.3f} of them, precision {precision:.3f}, recall {recall:.3f}")
    weights = fitted(x, y)
    print(dict(zip(p.FEATURES, weights.round(3).tolist(), strict=True)))
    if not options.check:
        head = "# What the features of a candidate weigh; fitted by training/recall/promotion.py.\n[weights]\n"
        OUT.write_text(
            head + "".join(f"{name} = {weight:.4f}\n" for name, weight in zip(p.FEATURES, weights, strict=True)),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
