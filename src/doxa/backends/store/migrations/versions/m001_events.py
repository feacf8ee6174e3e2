"""The first schema: event log, vectors, heads."""

import sqlalchemy as sa
from alembic import op

revision = "m001"
down_revision = None


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "events",
        sa.Column("scope", sa.String(400), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("turn_id", sa.String(400)),
        sa.Column("about", sa.Integer),
        sa.Column("known_at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("events_turn", "events", ["scope", "turn_id"], unique=True)
    op.create_table(
        "vectors",
        sa.Column("scope", sa.String(400), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("model", sa.String(200), primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "heads",
        sa.Column("scope", sa.String(400), primary_key=True),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("state", sa.Integer, nullable=False),
        sa.Column("received", sa.Integer, nullable=False),
        sa.Column("maintained", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(200)),
        sa.Column("lease_until", sa.Float),
    )
