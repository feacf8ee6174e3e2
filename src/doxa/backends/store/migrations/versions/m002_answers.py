"""Answers that were given, with their traces."""

import sqlalchemy as sa
from alembic import op

revision = "m002"
down_revision = "m001"


def upgrade() -> None:
    """Make the table of answers."""
    op.create_table(
        "answers",
        sa.Column("scope", sa.String(400), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("answer_id", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("answers_id", "answers", ["scope", "answer_id"], unique=True)
