"""The table of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.digests import with_digest
from doxa.backends.store.schema import answers
from doxa.backends.store.sql.database import sent_again
from doxa.backends.store.sql.heads import Heads
from doxa.backends.store.sql.rows import body_of, dumps

ANSWERS = sa.select(answers.c.ordinal, answers.c.answer_id, answers.c.body, answers.c.digest)


class Answers(Heads):
    """Answers that were given, with their traces."""

    @sent_again(twice=True)
    def keep_answers(self, scope: str, bodies: Mapping[str, Mapping[str, Any]], *, latest: int) -> None:
        """Write answers, and remove the oldest beyond `latest`. See `Store`."""
        with self._write() as connection:
            self._locked_head(connection, scope)  # one writer at a time
            connection.execute(sa.delete(answers).where(*_of(scope, list(bodies))))
            last = connection.execute(
                sa.select(sa.func.max(answers.c.ordinal)).where(answers.c.scope == scope)
            ).scalar()
            first = (last or 0) + 1
            rows = [
                _values(scope, ordinal, key, body) for ordinal, (key, body) in enumerate(bodies.items(), start=first)
            ]
            connection.execute(sa.insert(answers), rows)
            old = (answers.c.scope == scope, answers.c.ordinal < first + len(rows) - latest)
            connection.execute(sa.delete(answers).where(*old))

    @sent_again(twice=True)
    def answers(self, scope: str, answer_id: str | None = None) -> list[Mapping[str, Any]]:
        """Return the answers that are kept. See `Store`."""
        self._require_sound(answers)
        these = (answers.c.scope == scope,) if answer_id is None else _of(scope, [answer_id])
        with self._read() as connection:
            found = connection.execute(ANSWERS.where(*these).order_by(answers.c.ordinal)).all()
        return [self._body(scope, one) for one in found]

    @sent_again(twice=True)
    def latest_answers(
        self, scope: str, *, before: int | None = None, limit: int
    ) -> list[tuple[int, Mapping[str, Any]]]:
        """Return the latest answers, each with its place. See `Store`."""
        self._require_sound(answers)
        these = [answers.c.scope == scope, *([] if before is None else [answers.c.ordinal < before])]
        query = ANSWERS.where(*these).order_by(answers.c.ordinal.desc()).limit(limit)
        with self._read() as connection:
            found = connection.execute(query).all()
        return [(one.ordinal, self._body(scope, one)) for one in found]

    @sent_again(twice=True)
    def amend_answers(self, scope: str, bodies: Mapping[str, Mapping[str, Any]]) -> None:
        """Write answers anew in their places. See `Store`."""
        with self._write() as connection:
            self._note_erasing(connection)
            for key, body in bodies.items():
                these = _of(scope, [key])
                place = connection.execute(sa.select(answers.c.ordinal).where(*these)).scalar()
                if place is not None:
                    connection.execute(sa.update(answers).where(*these).values(_values(scope, place, key, body)))

    @sent_again(twice=True)
    def drop_answers(self, scope: str, answer_ids: Sequence[str]) -> None:
        """Remove answers. See `Store`."""
        with self._write() as connection:
            self._note_erasing(connection)
            connection.execute(sa.delete(answers).where(*_of(scope, answer_ids)))

    def _body(self, scope: str, found: Sequence[Any]) -> Any:
        ordinal, answer_id, body, digest = found
        what = f"the answer {answer_id} to {scope}"
        return body_of(body, digest, (scope, ordinal, answer_id, body), self._where, what)


def _values(scope: str, ordinal: int, answer_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    values = {"scope": scope, "ordinal": ordinal, "answer_id": answer_id, "body": dumps(body)}
    return with_digest(answers, values)


def _of(scope: str, answer_ids: Sequence[str]) -> tuple[sa.ColumnElement[bool], ...]:
    return answers.c.scope == scope, answers.c.answer_id.in_(answer_ids)
