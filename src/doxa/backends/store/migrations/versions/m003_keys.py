"""API keys of a server."""

import sqlalchemy as sa
from alembic import op

revision = "m003"
down_revision = "m002"


def upgrade() -> None:
    """Make the table of keys."""
    op.create_table(
        "keys",
        sa.Column("key_id", sa.String(64), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
    )
