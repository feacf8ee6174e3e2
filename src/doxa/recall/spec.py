"""How evidence is searched for: what the views look at, and where their weights come from."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RecallSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSpec:
    """How evidence is searched for: how much, how far around, and by which weights views choose what they propose.

    What they propose is ranked by weights that are learned (`Weights`), not by these. These were chosen, when they
    ranked as well, between round numbers by Recall@10 on two unlike sets: LoCoMo (two friends, six conversations as six
    memories, 1106 questions, standard error 0.011) and LongMemEval (a user and an assistant, 479 questions, 3316
    turns in one memory, most evidence turns without their session; standard error 0.02; it shows that a view does
    no harm there, not how a full system would do). Half or double of a weight costs at most 0.03 on either.

    | search | LoCoMo R@10 / nDCG@10 | LongMemEval R@10 / nDCG@10 |
    |---|---|---|
    | words alone (BM25) | 0.62 / 0.47 | 0.75 / 0.65 |
    | meaning alone | 0.61 / 0.41 | 0.63 / 0.50 |
    | all views | 0.81 / 0.59 | 0.80 / 0.69 |
    | without neighbours | 0.73 / 0.54 | 0.80 / 0.69 |
    | without meaning | 0.76 / 0.55 | 0.75 / 0.66 |
    | without speaker | 0.79 / 0.57 | 0.78 / 0.68 |
    | without time | 0.79 / 0.57 | 0.79 / 0.69 |

    Words and meaning are added as they are, words as a share of what the query could reach. Tried and left out:
    reciprocal rank fusion (0.02 to 0.05 of Recall@10 lower), z-scores and division by the best turn (no better),
    pseudo-relevance feedback and preferring turns that mention a named speaker (both slightly lower).
    """

    top_k: int = 10
    """How much evidence is given back."""
    pool: int = 64
    """How many places are scored in full by every view; at least `top_k` are."""
    dense: float = 0.5
    """Weight of the cosine, against 1 for the share of the query's words that is covered."""
    deadline_ms: float = 500.0
    """Milliseconds after which no further view or expansion is begun; 0 for none."""
    expand: bool = True
    """Whether one more look is taken when a ranking is doubtful and the plan allows it."""
    superseded: bool = False
    """Also search turns of whose claims nothing is held any more; a query about the past always does."""
    speaker: float = 0.05
    """Added when the query names the speaker, or says "I" of the user's turns and "you" of the assistant's."""
    time: float = 0.1
    """Added when the turn was said in the days that the query names."""
    route: bool = False
    """A plan is chosen for every query by the router; False takes the same plan for all.

    Measured: 0.002 of nDCG@10 on the implicit benchmark (-0.005 to 0.009), 0.006 less after 400 turns (-0.023 to
    0.011), 0.007 less on PrefEval (-0.017 to 0.003).
    """
    variant: str = ""
    """Other weights that come with Doxa, by name, in place of those in use: "lambda_2" (`ALIGNED`).

    They were fitted with the consistency loss. Measured: 0.007 of nDCG@10 less on the implicit benchmark (-0.013 to
    -0.001) and 0.013 less after 400 turns (-0.025 to -0.002); on LoCoMo 0.003 of Recall@10 more (-0.003 to 0.010).
    """
    promotions: bool = True
    """Promoted tastes lead from people to what turns are about; False leaves them out.

    Measured: 0.006 of Recall@10 and of nDCG@10 on the implicit benchmark (0.002 to 0.012), nothing elsewhere.
    """
    tau: float = 0.0
    """Promotions that were less likely than this when they were made are left out."""
    reach: int = 2
    """How many turns before and after help a turn."""
    decay: float = 0.5
    """How much less each step away helps."""

    @property
    def weights(self) -> dict[str, float]:
        """Score by words or meaning -> how much it counts; `_near` is what the turns around a turn add."""
        return {"lexical": 1.0, "lexical_near": 1.0, "dense": self.dense, "dense_near": self.dense}
