"""Who and what is meant: noun phrases to terms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from doxa.core.values import Status, Term, Turn
from doxa.language.times import DAYS, MONTHS
from doxa.memory import FRESH, KIN, PET, Beliefs, Name, kin_of, sex_of
from doxa.understand.people import base_name, conflict, known_from, namesakes, ties_of

__all__ = ["EVENT_NOUNS", "KIN", "PET", "WHERE_FROM", "Referents", "clean", "kin_of", "named", "term"]

CLOSE = tuple(dict.fromkeys([*(name.replace(" ", "_") for name in KIN.values()), *sorted(PET)]))
"""The relations that tie people and animals to somebody."""
SOLO_KIN = re.compile(
    r"^(?:mum|mom|dad|grandma|granny|gran|nan|grandpa|granddad|grandad|grandmother|grandfather|"
    r"mother|father|papa|mama)$",
    re.I,
)
ARTICLE = re.compile(
    r"^(?:plenty of|lots of|loads of|(?:a )?(?:little )?bit of|a lot of|the|a|an|some|any|this|that|these|those|my|our|"
    r"his|her|their|its|your|own|both|all|such|enough)\s+",
    re.I,
)
EVENT_NOUNS = (
    "appointment|interview|meeting|exam|flight|check-?up|reservation|booking|viewing|surgery|operation|session|lesson|"
    "deadline|test|party|conference|presentation|call|date|concert|class|visit|wedding|trip|scan|course|regatta|race|match|"
    "tournament|gig|recital|rehearsal|audition|hearing|marathon|exhibition|performance|premiere|ceremony|graduation|"
    "funeral|reunion|webinar|workshop|seminar|inspection|festival|retreat"
)
OWN = re.compile(
    r"^the (?:\w+ )?(?:rent|membership|salary|deposit|subscription|lease|mortgage|commute|insurance)$", re.IGNORECASE
)
"""Nouns that "the" makes the speaker's, unless it is said whose they are."""
NAME = (
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Senhor|Senhora|Herr|Frau|Señor|Señora|Madame|Monsieur|Aunt|Uncle)\.? "
    r")?[^\W\d_a-z][\w'’-]*(?: (?:(?:de|da|van|von|der|del|la|di|al|bin)\b(?= [^\W\d_a-z])|"
    r"[^\W\d_a-z][\w'’-]*))*"
)
WHERE_FROM = re.compile(
    rf"^(?P<name>{NAME}) (?P<where>from (?:the |my |our )?(?:\w+ )?(?:work|office|school|college|uni(?:versity)?|gym|"
    r"yoga|choir|church|class|course|club|band|team|football|tennis|marketing|accounting|sales|HR|IT|downstairs|"
    r"upstairs|playground|hospital|agency|firm|company|lab|neighbou?rhood)|next door|down the road|across the street)$"
)
"""People of one name are told apart by where one knows them from."""
TITLE_DOT = re.compile(r"\b(dr|mr|mrs|ms|prof|st)\.(?= )")
NOBODY = frozenset(["", *"it they them this that these those who which there everyone one".split()])
"""What means nobody who is known here."""
NOT_NAMES = frozenset([*MONTHS, *DAYS]) | frozenset(
    "i the a my he she it we they you our his her this that "
    "according given yes no hi hello thanks sorry ok okay oh ah what who where when why how and but so then at "
    "in on for with since also not do does did is are was were have has had if because maybe please good "
    "morning evening tell congratulations there here once these those both all some any very christmas easter "
    "english german french spanish portuguese italian now only until never still just yesterday today tomorrow "
    "tonight last next huge terrible great nice sure one two".split()
)


def clean(noun: str) -> str:
    """Return a noun phrase without article, possessive and surrounding marks."""
    text = noun.strip(" ,;:.!?\"'()")
    while True:
        shorter = ARTICLE.sub("", text)
        if shorter == text:
            return text
        text = shorter


def term(label: str) -> Term:
    """Return the term of a label as it is written."""
    label = " ".join(label.split())
    return Term(TITLE_DOT.sub(r"\1", label.casefold()), label)


def named(text: str) -> bool:
    """Tell whether a phrase looks like a name."""
    return bool(re.fullmatch(NAME, text)) and text.split()[0].casefold() not in NOT_NAMES


@dataclass(slots=True)
class Referents:
    """What the words of one speaker refer to, by what is known and what was just said."""

    speaker: Term
    other: Term | None
    beliefs: Beliefs
    people: list[Term] = field(default_factory=list)
    """People and animals in the order in which they were mentioned."""
    topic: Term | None = None
    """The last thing that was spoken of in this turn, for "it"."""
    place: Term | None = None
    """The last place that was named, for "here"."""
    carried: bool = False
    """The topic is that of the turn before."""
    kind: str = ""
    """Its noun, for "the new one"."""
    sorts: dict[str, str] = field(default_factory=dict)
    """What somebody or something with a name was called: "courier firm" by "swiftly"."""
    gender: dict[str, str] = field(default_factory=dict)
    own_names: frozenset[str] = frozenset()
    """Other names that mean the speaker in this turn, in small letters."""
    _relatives: frozenset[str] | None = None

    @classmethod
    def of(cls, turn: Turn, context: Sequence[Turn], beliefs: Beliefs) -> Referents:
        """Return the referents of a turn, with the people that its context speaks of."""
        others = [t.speaker for t in context if t.speaker != turn.speaker]
        own = frozenset(clean(name).casefold() for name in turn.called)
        referents = cls(term(turn.speaker), term(others[-1]) if others else None, beliefs, own_names=own)
        for earlier in context[-6:]:
            for claim in beliefs.said_in(earlier.turn_id):
                noun = claim.subject.label.rpartition("'s ")[2]
                if noun != claim.subject.label and (kin_of(noun) or noun in PET):
                    referents.mention(claim.subject)
                if claim.relation.name == "has" and (claim.object.key in PET or kin_of(claim.object.key)):
                    referents.mention(term(f"{claim.subject.label}'s {kin_of(claim.object.key) or claim.object.key}"))
            referents.note(earlier.text)
        return referents

    def mention(self, thing: Term) -> None:
        """Note that a person was just spoken of."""
        if thing not in (self.speaker, self.other):
            self.people = [known for known in self.people if known != thing] + [thing]

    def note(self, text: str) -> None:
        """Note the people and the last place that a text names."""
        for match in re.finditer(rf"(?:(\w+) )?(?:the )?\b({NAME})", text[:1500]):
            before, name = (match[1] or "").casefold(), match[2].removesuffix("'s").removesuffix("’s")
            if name.split()[0].casefold() in NOT_NAMES:
                rest = name.split(" ", 1)
                if len(rest) == 1 or rest[1].split()[0].casefold() in NOT_NAMES:
                    continue
                name = rest[1]
            if before in ("in", "to", "from"):
                self.place = term(name)
            if before in ("in", "to", "from", "near", "of", "at"):
                continue
            if self._is_person(name) or before in KIN or before in PET:
                self.mention(self.called(name, relation=kin_of(before) or (before if before in PET else "")))

    def _is_person(self, name: str) -> bool:
        key = name.casefold()
        if any(fact.status is not Status.RETRACTED for fact in self.beliefs.about(key)):
            return True
        if self._relatives is None:
            close = (fact for name in CLOSE for fact in self.beliefs.about(self.speaker.key, name))
            self._relatives = frozenset(fact.object.key for fact in close)
        return key in self._relatives

    def resolve(self, noun: str) -> Term | None:
        """Return the term of a noun phrase; None for a pronoun without anybody it could mean."""
        text = noun.strip(' ,;:.!?"()')
        word = text.casefold()
        if word in ("i", "me", "myself", "we", "us", "ourselves", "mine"):
            return self.speaker
        if self.own_names and clean(text).casefold() in self.own_names:
            return self.speaker
        if word in ("you", "yourself"):
            return self.other
        if word in ("he", "him", "she", "her", "himself", "herself"):
            return self._person("f" if word in ("she", "her", "herself") else "m")
        if word in NOBODY:
            return None
        owned = self._owned(text)
        if owned is not None:
            return owned
        pet = re.fullmatch(r"(?:the|our) (\w+)", word)
        if pet and pet[1] in PET:
            return self.relative(self.speaker, pet[1])
        if SOLO_KIN.match(text):
            return self.relative(self.speaker, text)
        return self._thing(text)

    def _person(self, gender: str) -> Term | None:
        for person in reversed(self.people):
            if self._gender(person, gender) == gender:
                return person
        return None

    def _gender(self, person: Term, unknown: str) -> str:
        """Return "f" or "m" by the words for a relative that are known of a person, else `unknown`."""
        if person.key not in self.gender:
            words = person.key.rpartition("'s ")[2] if "'s " in person.key else ""
            kin = (fact for name in CLOSE for fact in self.beliefs.about(self.speaker.key, name))
            words += " ".join(fact.relation.name for fact in kin if fact.object == person)
            self.gender[person.key] = sex_of(words)
        return self.gender[person.key] or unknown

    def _owned(self, text: str) -> Term | None:
        match = re.match(r"(?:(my|our|your|his|her)|(.+?)(?:'s|(?<=s)'))\s+(.+)$", text, re.IGNORECASE)
        if match is None:
            return None
        owner = self.owner(match[1]) if match[1] else self.resolve(match[2])
        if owner is None:
            return None
        return self.possession(owner, match[3])

    def owner(self, word: str) -> Term | None:
        """Return whom a possessive pronoun means."""
        word = word.casefold()
        if word in ("my", "our"):
            return self.speaker
        return (
            self.other
            if word == "your"
            else self._person("f" if word == "her" else "m")
            if word in ("his", "her")
            else None
        )

    def possession(self, owner: Term, noun: str) -> Term | None:
        """Return what `noun` of an owner is: a known relative or pet by name, else "Owner's noun"."""
        nested = re.match(r"(.+?)(?:'s|(?<=s)')\s+(.+)$", noun)
        if nested:
            inner = self.possession(owner, nested[1])
            return inner and self.possession(inner, nested[2])
        match = re.match(rf"(.+?),? ({NAME})$", noun)
        if (
            match
            and (kin_of(match[1]) or match[1].casefold() in PET)
            and match[2].split()[0].casefold() not in NOT_NAMES
        ):
            return self.tied(owner, kin_of(match[1]) or match[1].casefold(), term(match[2]))
        if kin_of(noun) or noun.casefold() in PET:
            return self.relative(owner, noun)
        return self._known_thing(owner, clean(_fresh(noun)))

    def relative(self, owner: Term, noun: str) -> Term:
        """Return the one relative, friend or pet of an owner that is known by name, else "Owner's noun"."""
        relation = kin_of(noun) or noun.casefold()
        fresh = noun.casefold().startswith(("new ", "next "))  # "my new landlord" is not the one who is known
        facts = [] if fresh else self.beliefs.about(owner.key, relation.replace(" ", "_"))
        held = (fact.object for fact in facts if fact.status is Status.HELD and fact.polarity)
        described = f"{owner.key}'s {relation}"
        names = {
            self.beliefs.key(name.key): name for name in held if not self.beliefs.identity.apart(described, name.key)
        }
        if len(names) == 1:
            return next(iter(names.values()))
        plural = noun.casefold().endswith("s") and relation != noun.casefold() and noun.casefold() not in KIN
        recent = [person for person in reversed(self.people) if self.beliefs.key(person.key) in names]
        if recent and not plural:
            return recent[0]
        label = _fresh(noun.casefold()) if plural else relation
        one = term(f"{owner.label}'s {label}")
        return Term(f"{one.key} (one of {len(names)})", one.label) if names and not plural else one

    def tied(self, owner: Term, relation: str, name: Term) -> Term:
        """Return whom a name means that comes with a tie ("my cousin Anna"): a second Anna if the first cannot be she.

        Args:
            owner: whose cousin she is.
            relation: the name of the tie.
            name: the name as a term.
        """
        known = namesakes(name.label, self.beliefs)
        tie = (self.beliefs.key(owner.key), relation.replace(" ", "_"))
        ties = [(person, ties_of(person.key, self.beliefs)) for person in known]
        same = [person for person, held in ties if tie in held]
        fitting = [person for person, held in ties if not conflict([tie], held)]
        if same or fitting:
            return (same or fitting)[0]
        whose = f"{relation} of {owner.key}".replace("'s ", " ")
        return Term(f"{name.key} ({whose})", name.label) if known else name

    def placed(self, name: str) -> Term:
        """Return the place of a name, told apart from somebody who is called so ("a week in Jordan")."""
        place = term(clean(name))
        people = [person for person in namesakes(place.label, self.beliefs) if ties_of(person.key, self.beliefs)]
        return Term(f"{place.key} (place)", place.label) if people else place

    def called(self, name: str, *, relation: str = "") -> Term:
        """Return whom a bare name means: of several who have it the one with a tie, or who was spoken of last."""
        known = namesakes(name, self.beliefs) or self._first_named(name)
        recent = [person for person in reversed(self.people) if self._bears(person, name)]
        if relation:
            tied = [p for p in known if any(tie[1] == relation for tie in ties_of(p.key, self.beliefs))]
            known, recent = tied or known, [person for person in recent if person in tied]
        if len({self.beliefs.key(person.key) for person in (*known, *recent)}) > 1:
            return (recent or known)[0]
        return next((person for person in (*recent, *known) if base_name(person.key) == name.casefold()), term(name))

    def _bears(self, person: Term, name: str) -> bool:
        first = Name.of(person.label).tokens[:1]
        return person.label.casefold() == name.casefold() or first == Name.of(name).tokens

    def _first_named(self, name: str) -> list[Term]:
        """Return those with this first name and a last name, the latest first, when there are several."""
        if " " in name:
            return []
        found: dict[str, Term] = {}
        for key in self.beliefs.names.namesakes(name):
            person = self.beliefs.identity.seen[key].term
            if " " in person.label and self._bears(person, name) and self._is_person(key):
                found.setdefault(self.beliefs.key(key), person)
        return list(found.values()) if len(found) > 1 else []

    def _known_from(self, name: str, where: str) -> Term:
        """Return whom "Anna from work" means: the one Anna with such a tie, else another one of that name."""
        ties = known_from(where)
        known = [
            person
            for person in namesakes(name, self.beliefs)
            if any(tie in ties for _, tie in ties_of(person.key, self.beliefs))
        ]
        if len({self.beliefs.key(person.key) for person in known}) == 1:
            return known[0]
        return Term(f"{name.casefold()} ({where.casefold()})", f"{name} {where}")

    def _is_of(self, owner: Term, label: str) -> bool:
        """Tell whether a noun phrase names something of an owner that was spoken of ("the deposit", "our deposit")."""
        wanted, whose = f" {label.casefold()}", f"{owner.key}'s"
        return any(key.removeprefix(whose).endswith(wanted) for key in self.beliefs.possessions(owner.key))

    def _known_thing(self, owner: Term, noun: str) -> Term:
        wanted = noun.casefold().split()
        for subject in self.beliefs.possessions(owner.key):
            words = subject.removeprefix(f"{owner.key}'s ").split()
            shorter, longer = sorted((words, wanted), key=len)
            if shorter and longer[-len(shorter) :] == shorter:
                return self.beliefs.about(subject)[0].subject
        return term(f"{owner.label}'s {noun.casefold() if noun.istitle() and ' ' not in noun else noun}")

    def _thing(self, text: str) -> Term:
        label = re.sub(r"\b(?:my|our) (?=\w)", f"{self.speaker.label}'s ", clean(text))
        apart = WHERE_FROM.match(text)
        if apart is not None and named(apart["name"]):
            return self._known_from(apart["name"], apart["where"])
        if named(label):
            return self.called(label)
        if OWN.search(text):
            return self._known_thing(self.speaker, label)
        for owner in (self.speaker, self.other):
            if owner is not None and text.casefold().startswith("the ") and self._is_of(owner, label):
                return self._known_thing(owner, label)
        return term(label or text)


def _fresh(noun: str) -> str:
    shorter = FRESH.sub("", noun)
    return noun if shorter == noun else _fresh(shorter)
