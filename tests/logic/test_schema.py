"""Pydantic classes become classes and relations."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from doxa.core.errors import InputError
from doxa.logic import builtin_ontology, from_models

XSD = "http://www.w3.org/2001/XMLSchema#"


class Robot(BaseModel):
    """A machine that works."""

    serial_number: Annotated[int, Field(json_schema_extra={"phrases": ["serial", "number plate"]})]
    tools: list[str] = []
    maker: Company | None = None
    likes: list[str] = []
    built_on: date | None = None


class Cleaner(Robot):
    """A robot that cleans."""

    area: float = Field(title="Floor area", json_schema_extra={"parents": ["measure_relation"]})
    state: Literal["on", "off"] = "off"
    rivals: set[Cleaner] = Field(default=set(), json_schema_extra={"symmetric": True, "disjoint": ["maker"]})


class Company(BaseModel):
    """Who builds robots."""

    mentors: list[Company] = Field(default=[], json_schema_extra={"noun": False, "inverse": "mentor"})
    state: str = ""


def read(*models):
    return from_models(models, known=builtin_ontology())


def test_fields_become_relations():
    relations = read(Cleaner).relations
    serial, tools, maker = relations["serial_number"], relations["tools"], relations["maker"]
    assert serial.functional and serial.datatype == XSD + "integer" and serial.domain == "Robot"
    assert serial.phrases == ("serial", "number plate") and serial.kind == "noun" and serial.label == "serial number"
    assert not tools.functional and tools.datatype == XSD + "string"
    assert maker.functional and maker.range == "Company" and not maker.datatype
    assert relations["built_on"].datatype == XSD + "string"
    assert relations["area"].label == "floor area" and relations["area"].datatype == XSD + "double"
    assert relations["area"].parents == ("measure_relation",)
    assert relations["rivals"].symmetric and relations["rivals"].disjoint == ("maker",)
    assert relations["mentors"].kind == "verb" and relations["mentors"].inverse == "mentor"


def test_a_field_of_two_classes_has_no_class_of_its_own():
    state = read(Cleaner).relations["state"]
    assert state.domain == "" and state.functional


def test_a_known_relation_is_refined():
    likes = read(Robot).relations["likes"]
    assert (likes.label, likes.past, likes.domain) == ("likes", "liked", "Agent")


def test_classes_come_with_parents_and_with_what_their_fields_name():
    classes = read(Cleaner).classes
    assert set(classes) == {"Cleaner", "Robot", "Company"}
    assert classes["Cleaner"].parents == ("Robot",)
    assert classes["Cleaner"].iri == "urn:doxa:vocabulary#Cleaner"


def test_a_slip_is_said():
    class Wrong(BaseModel):
        size: int = Field(json_schema_extra={"fonctional": True})

    class Lost(BaseModel):
        size: int = Field(json_schema_extra={"inverse": "nothing"})

    with pytest.raises(InputError, match=r"Wrong\.size: json_schema_extra may say phrases, functional.*fonctional"):
        read(Wrong)
    with pytest.raises(InputError, match="size: expected the name of a relation, got 'nothing'"):
        read(Lost)
    with pytest.raises(InputError, match=r"expected the path of a Turtle file or a pydantic class, got 5"):
        read(5)
