"""One detail in place of another in a sentence that is otherwise the same."""

import pytest

from doxa.verify.alignment import another_detail


@pytest.mark.parametrize(
    ("told", "said", "differing"),
    [
        ("Inga runs a bakery in Bruges", "Pavel is married to Inga, who runs a bakery in Ghent.", ("Bruges", "Ghent")),
        ("Jon lost his job as a teacher", "I lost my job as a banker last month.", ("teacher", "banker")),
        ("Inga runs a bakery in Ghent", "Pavel is married to Inga, who runs a bakery in Ghent.", None),
        ("Inga runs a bar in Bruges", "Pavel is married to Inga, who runs a bakery in Ghent.", None),
        ("Inga likes tea", "Inga likes coffee.", None),
        ("Inga is in Bruges", "Inga is in Ghent.", None),
    ],
)
def test_the_one_detail_that_differs_is_found(told, said, differing):
    """They agree on three content words before it, and it stands after the same preposition."""
    assert another_detail(told, said, by="Nora", speaker="Jon") == differing
