"""A number for each holder of a lease, and with each row the one that it was written under; failures of workers."""

import sqlalchemy as sa
from alembic import op

revision = "m007"
down_revision = "m006"


def upgrade() -> None:
    """Add the columns; no row is rewritten for it."""
    op.add_column("heads", sa.Column("fence", sa.Integer, nullable=False, server_default="0"))
    op.add_column("heads", sa.Column("failures", sa.Integer, nullable=False, server_default="0"))
    op.add_column("heads", sa.Column("failed_at", sa.Float))
    op.add_column("heads", sa.Column("failure", sa.Text))
    op.add_column("events", sa.Column("fence", sa.Integer))
