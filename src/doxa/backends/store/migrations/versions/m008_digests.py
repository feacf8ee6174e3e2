"""A digest of every row, by which damage is found, and with each row of a log the one before it."""

import sqlalchemy as sa
from alembic import op

revision = "m008"
down_revision = "m007"


def upgrade() -> None:
    """Add the columns; of rows that are there it is noted that they carry none, and none of a log is rewritten."""
    for table in ("events", "vectors", "answers", "keys", "records", "heads"):
        op.add_column(table, sa.Column("digest", sa.LargeBinary))
    op.add_column("events", sa.Column("previous", sa.Integer))
    op.add_column("heads", sa.Column("undigested", sa.Integer, nullable=False, server_default="0"))
    op.execute("UPDATE heads SET undigested = ordinal")
