"""amounts: text -> numbers with their units."""

from doxa.language.amounts.numbers import Number, numbers_of
from doxa.language.amounts.units import CURRENCY, Unit, converted, is_money, unit_named, units_of

__all__ = ["CURRENCY", "Number", "Unit", "converted", "is_money", "numbers_of", "unit_named", "units_of"]
