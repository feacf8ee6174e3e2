"""What programs keep beside a memory."""

import sqlalchemy as sa
from alembic import op

revision = "m004"
down_revision = "m003"


def upgrade() -> None:
    """Make the table of records."""
    op.create_table(
        "records",
        sa.Column("scope", sa.String(400), primary_key=True),
        sa.Column("shelf", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(400), primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
