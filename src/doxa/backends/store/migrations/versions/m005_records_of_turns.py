"""Records that go with the turn that says them."""

import sqlalchemy as sa
from alembic import op

revision = "m005"
down_revision = "m004"


def upgrade() -> None:
    """Add the turn of a record, and what finds the records of a turn."""
    op.add_column("records", sa.Column("turn_id", sa.String(400)))
    op.create_index("records_by_turn", "records", ["scope", "turn_id"])
