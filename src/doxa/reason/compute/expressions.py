"""The arithmetic of an answer as a tree: stated numbers joined by operations, evaluated exactly, shown in steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

__all__ = ["Expression", "Operation", "Operator", "steps", "value_of", "written"]

Operator = Literal["+", "-", "×", "÷"]
PLACES = 4
"""Decimal places after which a number is rounded when it is shown; the value itself stays exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Expressions joined by one operator, from left to right; at least two parts."""

    operator: Operator
    parts: tuple[Expression, ...]


Expression = Fraction | Operation


def value_of(expression: Expression) -> Fraction:
    """Return the exact value. O(nodes). Raises ZeroDivisionError for a division by zero."""
    if isinstance(expression, Fraction):
        return expression
    first, *rest = map(value_of, expression.parts)
    for value in rest:
        match expression.operator:
            case "+":
                first += value
            case "-":
                first -= value
            case "×":
                first *= value
            case "÷":
                first /= value
    return first


def steps(expression: Expression) -> tuple[str, ...]:
    """Return the working, one line an operation, inner ones first ("3 × 20 = 60"); none for a stated number."""
    return tuple(dict.fromkeys(_steps(expression)))


def written(value: Fraction, *, places: int = PLACES) -> str:
    """Return a number as people write it: without needless zeros, rounded where it has no end."""
    if value.denominator == 1:
        return str(value.numerator)
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{exact:.{places}f}".rstrip("0").rstrip(".")


def _steps(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Fraction):
        return
    for part in expression.parts:
        yield from _steps(part)
    parts = f" {expression.operator} ".join(_shown(value_of(part), n) for n, part in enumerate(expression.parts))
    value = value_of(expression)
    sign = "=" if Fraction(written(value)) == value else "≈"
    yield f"{parts} {sign} {written(value)}"


def _shown(value: Fraction, place: int) -> str:
    text = written(value)
    return f"({text})" if value < 0 and place else text
