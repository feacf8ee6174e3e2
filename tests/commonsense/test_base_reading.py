"""Files of sentences and of inferences, in every form they come in, and what is said of one that cannot be read."""

import gzip
import json

import pytest

from doxa.commonsense.base.reading import MAX_CHARS, read_sentences, read_tuples
from doxa.core.errors import InputError


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "Dogs bark.\nCats meow.\n"),
        ("a.txt", "\ufeffDogs bark.\r\n\r\n  Cats   meow.  "),
        ("a.tsv", "dog\tDogs bark.\t1.0\ncat\tCats meow.\t0.7\n"),
        ("a.tsv", "\ndog\tDogs bark.\t1.0\n\ncat\tCats meow.\t0.7\nshort\t\n"),
        ("a.tsv", "term\tGeneric Sentence\tother words\nd\tDogs bark.\tx y z w\nc\tCats meow.\tx\n"),
        ("a.tsv", "id\tSentence\n1\tDogs bark.\n2\n2\tCats meow.\n# the end\n"),
        ("a.tsv", "# of animals\ndog\tDogs bark.\ncat\tCats meow.\n"),
        ("a.jsonl", '{"sentence": "Dogs bark."}\n\n{"text": "Cats meow.", "n": 1}\n'),
        ("a.jsonl", '\n{"generic_sentence": "Dogs\\nbark."}\n{"text": "Cats\\tmeow."}'),
        ("a.txt.gz", gzip.compress(b"Dogs bark.\nCats meow.\n", mtime=0)),
    ],
)  # fmt: skip
def test_every_form_gives_the_sentences(file, name, content):
    assert list(read_sentences(file(name, content))) == ["Dogs bark.", "Cats meow."]


def test_a_brace_makes_no_json(file):
    assert list(read_sentences(file("a.txt", "{Dogs} bark.\nCats\tmeow.\n[Birds] sing.\n"))) == [
        "{Dogs} bark.",
        "Cats meow.",
        "[Birds] sing.",
    ]


def test_a_document_is_cut(file):
    (sentence,) = read_sentences(file("long.txt", "word " * 1000))
    assert len(sentence) <= MAX_CHARS and sentence.endswith("word")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"Dogs bark.\nCaf\xe9s open.\n", r"a\.txt, line 2: expected text in UTF-8, it has 0xe9 at byte 4"),
        ("a.txt", "Dogs bark.".encode("utf-16"), r"line 1: expected text in UTF-8, it has 0xff at byte 1"),
        ("a.txt", "Dogs bark.".encode("utf-16-le"), r"line 1: expected text in UTF-8, it has a zero byte"),
        ("a.json", b'[{"text": "Dogs bark."},\n{"text": "Cats meow."}]', "an object on each line; it is one JSON"),
        ("a.json", b'{\n  "text": "Dogs bark."\n}', r"line 1: expected a JSON object"),
        ("a.json", b'[\n  {"text": "Dogs bark."}\n]', r"it is one JSON array"),
        ("a.jsonl", b'{"text": "Dogs bark.", "x": ' + b"[" * 200_000, r"line 1: expected a JSON object"),
        ("a.txt", b"", r"a\.txt: expected sentences, one on a line; it has none"),
        ("a.txt", b"\n \n\t\n", "it has none"),
        ("a.jsonl", b'{"text": "Dogs bark."}\n{"text": 7}\n', r"line 2: expected .* a text as 'sentence'"),
        ("a.jsonl", b'{"text": "Dogs bark."}\n{"text": \n', r"line 2: expected a JSON object .* it is '{\"text\":'"),
        ("a.jsonl", b'{"text": "Dogs bark."}\nCats meow.\n', r"line 2: expected a JSON object .* it is 'Cats meow\.'"),
        ("a.jsonl", b'{"title": "Dogs"}\n', r"line 1: expected a JSON object .*'text'; it is"),
        ("a.txt.gz", b"Dogs bark.\n", r"a\.txt\.gz cannot be read: Not a gzipped file"),
        ("a.txt.gz", gzip.compress(b"Dogs bark.\n" * 50, mtime=0)[:-12], r"a\.txt\.gz cannot be read: "),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_with_its_line(file, name, content, said):
    with pytest.raises(InputError, match=said):
        list(read_sentences(file(name, content)))


def test_a_folder_or_nothing_is_no_file(tmp_path):
    for read in (read_sentences, read_tuples):
        with pytest.raises(InputError, match="expected a file, it is a folder"):
            list(read(tmp_path))
        with pytest.raises(InputError, match=r"none\.txt cannot be read: No such file"):
            list(read(tmp_path / "none.txt"))


@pytest.mark.parametrize(
    ("line", "tuples"),
    [
        ("PersonX eats lunch\txWant\tto rest", [("PersonX eats lunch", "xWant", "to rest")]),
        ("PersonX eats\tisAfter\tPersonX cooks.", [("PersonX eats", "IsAfter", "PersonX cooks")]),
        ("X eats @@ xNeed\tto cook| none| a fork.", [("X eats", "xNeed", "to cook"), ("X eats", "xNeed", "a fork")]),
        ("HasPrerequisite\tget onto web\tturn it on\t1", [("get onto web", "xNeed", "turn it on")]),
        ("HasPrerequisite\tbathe\twater\t1", [("bathe", "xNeed", "water")]),
        ("CausesDesire\thappiness\tsing\t1", [("happiness", "xWant", "sing")]),
        ("Causes\t  play  game\twin\t1\r", [("play game", "Causes", "win")]),
        ("IsA\ttool\tobject\t1\nCauses\train\tflood", [("rain", "Causes", "flood")]),
        ("PersonX eats\toEffect\tthanked\nX\txWant\tY", [("X", "xWant", "Y")]),
        ("PersonX eats\txWant\tNone", []),
    ],
)  # fmt: skip
def test_inferences_of_our_relations_are_read(file, line, tuples):
    assert list(read_tuples(file("a.tsv", line))) == tuples


@pytest.mark.parametrize(
    "content",
    [b"", b"Dogs bark.\n", b"dog\tcat\tmouse\n", b"Dogs\tIsA\tanimals\n", json.dumps({"head": "x"}).encode()],
)
def test_a_file_without_inferences_is_told(file, content):
    with pytest.raises(InputError, match="expected inferences, one on a line"):
        list(read_tuples(file("a.tsv", content)))
