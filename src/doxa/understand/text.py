"""Text to sentences of plain words: quotes and spaces mended, contractions and chat spelling written out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from doxa.language import LONGEST_SENTENCE, split_text
from doxa.language.verbs import participle_of

__all__ = ["Sentence", "sentences", "words"]

QUOTED = re.compile(r"\"[^\"]{0,300}\"|“[^”]{0,300}”|(?<!\w)'[^']{3,200}'(?!\w)")
TITLE = re.compile(
    r"(?!(?:I|We|You|No|Yes|Not|He|She|It|They|Let|OK|Ok)\b)[A-Z][\w'’-]*"
    r"(?: (?:(?:of|the|and|in|a)\b|[A-Z][\w'’-]*)){0,5}"
)
CHAT = {
    "im": "I am", "ive": "I have", "id": "I would", "ill": "I will", "i": "I", "dont": "do not", "cant": "can not",
    "didnt": "did not", "doesnt": "does not", "wont": "will not", "isnt": "is not", "arent": "are not",
    "wasnt": "was not", "havent": "have not", "hasnt": "has not", "weve": "we have", "theyre": "they are",
    "youre": "you are", "hes": "he is", "shes": "she is", "thats": "that is", "whats": "what is", "u": "you",
    "ur": "your", "r": "are", "pls": "please", "plz": "please", "tho": "though", "b4": "before", "bc": "because",
    "gonna": "going to", "wanna": "want to", "gotta": "have to", "uni": "university", "thx": "thanks",
    "cuz": "because", "gf": "girlfriend", "bf": "boyfriend", "bday": "birthday", "fav": "favourite",
    "favorite": "favourite", "cannot": "can not", "w/": "with", "&": "and", "rn": "now", "n": "and", "thru": "through",
}  # fmt: skip
NOT_CHAT = {"id", "ill", "i"}
"""Words as well ("ill", "ID"): read as chat only at the start of a sentence, except the lone "i"."""
HOST = r"(?:he|she|it|that|there|here|who|what|where|when|how|this|everyone|everybody|somebody|someone)"
IS_NEXT = re.compile(
    r"^(?:(?:still|now|just|also|always|never|already|really|probably|actually|only|currently|so|very|quite|no|not|"
    r"a|an|the|in|at|on|from|with|off|over|out|away|back|here|there|going|my|his|her|our|your|"
    r"their|allergic|vegetarian|"
    r"vegan|fine|ill|sick|pregnant|married|single|divorced|engaged|retired|taller|older|younger|shorter|bigger|home|"
    r"late|open|closed|early|ready|broken|empty|full|asleep|awake|wet|dry|been|got|dead|coming|called|named|happy|sad|due|free|busy|tired|good|great|best|[a-z]{3,}ing|"
    r"[a-z]+ years? old|\d[\d.,]*)\b|one\b|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b)"
)
PLACE_OF = re.compile(r"\b(?:at|to|from|round|near) (?:the |my |our )?$")
NOUN_ING = frozenset("wedding building meeting ring king thing evening morning clothing earring painting".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence: `raw` as it was said, `text` written out, `mark` its last character class."""

    raw: str
    text: str
    question: bool


def words(text: str) -> list[str]:
    """Return the words of a written-out text: names, numbers and clock times stay whole; commas are words."""
    return re.findall(r"[^\W_](?:[\w/+#€$£%°]|[-.:,'’&@](?=\w))*(?:'s?|%)?|[€$£]\d[\d.,]*\d|[€$£]\d|[,;:()—–]", text)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a message, in order. Cost O(len(text)); never raises."""
    return [sentence for raw in split_text(_tidy(text)) for sentence in _sentence(raw)]


def _sentence(raw: str) -> list[Sentence]:
    if not re.search(r"\w", raw):
        return []
    question = raw.rstrip("\"')] ").endswith("?")
    body = raw if len(raw) > LONGEST_SENTENCE else QUOTED.sub(_unquoted, raw)  # a quote may end the sentence
    body = body.rstrip(".!?… \"')]")
    text = _written_out(body) if len(body) <= LONGEST_SENTENCE else ""
    return [Sentence(raw=raw, text=text, question=question)]


def _unquoted(match: re.Match[str]) -> str:
    """Drop what is quoted, unless it is a name or a title ("Motte", "The Crown")."""
    inside = match[0][1:-1].strip(" ,.")
    return inside if TITLE.fullmatch(inside) else " "


def _tidy(text: str) -> str:
    text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u00a0", " ").replace("\u02bc", "'")
    text = re.sub(r"(?:[:;]-?[()DPp/|]|<3)(?=\s|$)", ".", text)
    text = re.sub(r"\.\.+", ". ", text)
    return re.sub(r"[ \t\r\f\v]+", " ", text)


def _written_out(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(
        r"^(?:\W*\b(?:BTW|btw|FYI|fyi|lol|haha+|hehe|hmm?|oh|ah|ugh|ha|wow|yay|ok|okay|well|"
        r"so|anyway|right|honestly|look|hey|hi|hello|yep|um+|er+)\b[,!:. ]+)+",
        "",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(r"\b(mr|mrs|ms|dr|prof)\b(?=\.? [A-Z])", lambda m: m[1].capitalize(), text)
    text = re.sub(r"\b[Cc]an't\b", "can not", text)
    text = re.sub(r"\b[Ww]on't\b", "will not", text)
    text = re.sub(r"\b[Aa]in't\b", "is not", text)
    text = re.sub(r"\b(\w+)n't\b", r"\1 not", text)
    text = re.sub(r"(?:^|(?<=, )|(?<=: ))([Ii])ts (?=\d|(?:an?|the|not|now|been|my|our|at|in)\b)", r"\1t is ", text)
    text = re.sub(r"\b([Ii])'m\b", "I am", text)
    text = re.sub(r"\b(\w+)'re\b", r"\1 are", text)
    text = re.sub(r"\b(\w+)'ve\b", r"\1 have", text)
    text = re.sub(r"\b(\w+)'ll\b", r"\1 will", text)
    text = re.sub(r"\b(\w+)'d\b(?= (\w+))", _had_or_would, text)
    text = re.sub(r"\b([Ll])et's\b", r"\1et us", text)
    text = re.sub(r"\b([\w.]+)'s (?=(\S+(?: \S+){0,2}))", _is_or_own, text)
    text = re.sub(r"[^\s,;:()]+", _chat, text)
    return re.sub(r"\s+", " ", text).strip()


def _had_or_would(match: re.Match[str]) -> str:
    had = match[2] in ("been", "better", "had") or (
        participle_of(match[2]) is not None
        and match[2]
        not in ("like", "come", "become", "run", "put", "let", "cut", "set", "quit", "cost", "hit", "hurt", "read")
    )
    return f"{match[1]} {'had' if had else 'would'}"


def _is_or_own(match: re.Match[str]) -> str:
    host, after = match[1], match[2]
    following = after.casefold()
    first = re.split(r"[ ,.;:!?]", following)[0]
    if PLACE_OF.search(match.string, 0, match.start()):
        return match[0]  # "at the vet's at two"
    pronoun = re.fullmatch(HOST, host, re.IGNORECASE)
    if not pronoun and (
        not IS_NEXT.match(following) or first in NOUN_ING or host.casefold() in ("o", "mother", "father")
    ):
        return match[0]
    rest = [
        w
        for w in re.findall(r"\w+", following)
        if w not in ("not", "just", "already", "never", "always", "also", "recently", "finally", "really")
    ]
    verb = participle_of(rest[0]) if rest else None
    if rest and rest[0] == "got":
        return f"{host} has "
    perfect = verb is not None and verb not in (
        "call",
        "name",
        "bear",
        "marry",
        "retire",
        "base",
        "hurt",
        "lose",
        "engage",
        "break",
        "make",
        "close",
        "include",
        "book",
        "interest",
        "tire",
    )
    return f"{host} {'has' if perfect else 'is'} "


def _chat(match: re.Match[str]) -> str:
    word = match[0]
    plain = CHAT.get(word.casefold())
    if plain is None or (word.casefold() in NOT_CHAT and word != "i") or (word.isupper() and len(word) > 1):
        return word
    return plain
