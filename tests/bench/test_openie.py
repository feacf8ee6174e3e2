"""Open information extraction: words, both scorers, and runs on small files of our own."""

import json

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import Extraction, run_openie
from doxa_bench.carb import read_carb, score_carb, tuple_match
from doxa_bench.extraction import in_forms_of, in_words_of, plain
from doxa_bench.wire57 import GoldPart, GoldTuple, match, score_wire57

WORDS = Config(encoder=EncoderConfig(name="hash"))


def tuple_of(text, confidence=1.0):
    """`Ana | lives in | Bonn` as an extraction."""
    arg1, relation, *args = (part.strip() for part in text.split("|"))
    return Extraction(arg1=arg1, relation=relation, args=tuple(args), confidence=confidence)


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("Ana 's car -LRB- a red one -RRB- is n't here .", "Ana's car (a red one) isn't here."),
        ("He said , `` Go home ! ''", 'He said, "Go home!"'),
        ("32.7 % of $ 40 ; parents ' house", "32.7% of $40; parents' house"),
    ],
)
def test_a_tokenised_sentence_reads_as_people_write_it(tokens, text):
    assert plain(tokens.split()) == text


@pytest.mark.parametrize(
    ("sentence", "said", "expected"),
    [
        ("The bike was sold .", "the bike | was Sold", "The bike | was sold"),
        ("A bike needs care .", "a bike | needs | a Care", "A bike | needs | a care"),
        ("Bo -LRB- 40 -RRB- left .", "Bo (40) | left", "Bo -LRB- 40 -RRB- | left"),
        ("Ana 's sister is in the U.S. now .", "Ana's sister | is in | the U.S.", "Ana 's sister | is in | the U.S."),
        ("Bo does n't like anti-war art .", "Bo | doesn't like | anti-war art", "Bo | does n't like | anti-war art"),
        ("Ana likes tea .", "Ana | owns | a boat", "Ana | owns | a boat"),
    ],
)
def test_an_extraction_is_put_in_the_tokens_of_its_sentence(sentence, said, expected):
    assert in_words_of(sentence.split(), tuple_of(said)) == tuple_of(expected)


@pytest.mark.parametrize(
    ("sentence", "relation", "expected"),
    [
        ("Ana lived in Bonn.", "lives in", "lived in"),
        ("They were happy.", "is", "were"),
        ("Ana lives here and lived there.", "lived in", "lived in"),
        ("Ana likes tea.", "is a member of", "is a member of"),
    ],
)
def test_a_relation_takes_the_forms_of_its_sentence(sentence, relation, expected):
    assert in_forms_of(sentence, relation) == expected


@pytest.mark.parametrize(
    ("gold", "found", "pair"),
    [
        ("Ana | lives in | Bonn", "Ana | lives in | Bonn", (1, 1)),
        ("Ana | lives in | old Bonn", "Ana | lives in | Bonn", (1, 4 / 5)),
        ("Ana | lives in | Bonn", "Ana | lives | Bonn now", (3 / 4, 3 / 4)),
        ("Ana | lives in | Bonn", "Ana | stays near | Bonn", (0, 0)),
        ("Ana | was | happy", "Ana | be | happy", (1, 1)),
        ("Ana | gave | Bo | a book", "Ana | gave | Bo a book", (1, 1)),
        ("Ana | gave | Bo", "Ana | gave", (0, 0)),
        ("Ana | gave", "Ana | gave | Bo", (1, 1)),
        ("Bo is late | said | Ana", "Ana | said | Bo is late", (1, 1)),
        ("Bo is late | knows | Ana", "Ana | knows | Bo is late", (1 / 5, 1 / 5)),
        ("a a b | r | c", "a b b | r | c", (4 / 5, 4 / 5)),
    ],
)
def test_carb_compares_the_words_of_two_tuples(gold, found, pair):
    assert tuple_match(tuple_of(gold), tuple_of(found)) == pytest.approx(pair)


def carb(gold, found):
    scores = score_carb([("s", [tuple_of(one) for one in gold])], [found])
    return scores.precision, scores.recall, scores.f1, scores.auc


def test_carb_pairs_one_to_one_for_precision_and_not_for_recall():
    """A second copy of a right tuple is wrong; two gold tuples may share one extraction."""
    assert carb(["a | r | b"], [tuple_of("a | r | b"), tuple_of("a | r | b")])[:2] == (0.5, 1.0)
    assert carb(["a | r | b", "a | r | c"], [tuple_of("a | r | b")])[:2] == pytest.approx((1.0, (1 + 2 / 3) / 2))


def test_carb_takes_the_best_threshold_and_the_area_under_all():
    """Of a sure right tuple and an unsure wrong one, the best point keeps the first; the curve has three points."""
    found = [tuple_of("a | r | b", 0.9), tuple_of("x | y | z", 0.2)]
    precision, recall, best, area = carb(["a | r | b", "c | s | d"], found)
    assert (precision, recall, best) == pytest.approx((1.0, 0.5, 2 / 3))
    assert area == pytest.approx(0.5)
    found = [tuple_of("a | r | b", 0.2), tuple_of("x | y | z", 0.9)]
    assert carb(["a | r | b", "c | s | d"], found)[3] == pytest.approx(0.5 * (0.5 + 0) / 2)


def test_carb_of_nothing_is_zero():
    assert carb(["a | r | b"], []) == (0.0, 0.0, 0.0, 0.0)


def test_carb_counts_the_gold_of_silent_sentences():
    gold = [(name, [tuple_of("a | r | b")]) for name in ("s", "t")]
    assert score_carb(gold, [[tuple_of("a | r | b")], []]).recall == 0.5


def gold_part(text):
    """`[is] in` is a part whose first word was inferred."""
    words = text.split()
    return GoldPart(words=tuple(word.strip("[]") for word in words), said=sum("[" not in word for word in words))


def gold_tuple(text):
    parts = [gold_part(part) for part in text.split("|")]
    return GoldTuple(parts=tuple(parts[:3]), more=tuple(parts[3:]))


@pytest.mark.parametrize(
    ("gold", "found", "pair"),
    [
        ("Ana | lives in | Bonn", "Ana | lives in | Bonn", (1, 1)),
        ("Ana | lives in | old Bonn", "Ana | lives in | Bonn", (1, 4 / 5)),
        ("Ana | lives in | Bonn", "Bo | lives in | Bonn", None),
        ("Ana | lives in | Bonn", "Ana | lives in", None),
        ("Ana | [is] [from] | Bonn", "Ana | comes | Bonn", (2 / 3, 1)),
        ("Ana | [is] mayor | Bonn", "Ana | is mayor | Bonn", (1, 4 / 3)),
        ("Ana | left | Bonn | in May", "Ana | left | Bonn", (1, 3 / 5)),
        ("Ana | left | Bonn | in May", "Ana | left | Bonn | by May", (4 / 5, 4 / 5)),
    ],
)
def test_wire57_compares_part_by_part(gold, found, pair):
    assert match(gold_tuple(gold), tuple_of(found)) == (pair and pytest.approx(pair))


def test_wire57_pairs_the_best_first():
    """The exact extraction takes the gold tuple, and the rest counts against precision."""
    found = [tuple_of("Ana | lives | Bonn"), tuple_of("Ana | lives in | Bonn")]
    assert score_wire57([[gold_tuple("Ana | lives in | Bonn")]], [found]) == pytest.approx((0.5, 1.0, 2 / 3))
    assert score_wire57([[gold_tuple("Ana | lives in | Bonn")]], [[]]) == (0.0, 0.0, 0.0)


CARB = "Ana lives in Bonn .\tlives in\tAna\tBonn\nBo likes the 3 dogs of Ana .\tlikes\tBo\tthe 3 dogs of Ana\n"
WIRE57 = {
    "doc": [
        {
            "id": "D 1",
            "sent": "Ana lives in Bonn.",
            "tokens": ["Ana", "lives", "in", "Bonn", "."],
            "tuples": [
                {
                    "arg1": {"words": ["Ana"], "words_indexes": [0]},
                    "rel": {"words": ["lives", "in"], "words_indexes": [1, 2]},
                    "arg2": {"words": ["Bonn"], "words_indexes": [3]},
                    "arg3+": [],
                }
            ],
        }
    ]
}


def test_a_run_on_carb_reads_the_test_part_of_the_folder(tmp_path):
    (tmp_path / "test.tsv").write_text(CARB, encoding="utf-8")
    report = run_openie(tmp_path, config=WORDS).to_dict()
    assert (report["scorer"], report["sentences"], report["gold_tuples"]) == ("carb", 2, 2)
    assert report["recall"] >= 0.5 and report["precision"] > 0.5 and report["auc"] > 0
    assert report["sentences_per_s"] > 0 and "revision" in report and json.loads(json.dumps(report)) == report
    assert run_openie(tmp_path, config=WORDS, limit=1).to_dict()["gold_tuples"] == 1


def test_a_run_on_wire57(tmp_path):
    (tmp_path / "WiRe57_small.json").write_text(json.dumps(WIRE57), encoding="utf-8")
    report = run_openie(tmp_path, config=WORDS).to_dict()
    assert report["scorer"] == "wire57"
    assert report["precision"] >= 0.7 and report["recall"] > 0 and report["silent"] == 0
    assert "auc" not in report


def test_any_extractor_can_be_measured(tmp_path):
    """It gets plain text, and what it gives is put in the words of the sentence."""
    read = []

    def extract(sentence):
        read.append(sentence)
        return [tuple_of("ana | lives in | bonn", 0.7)]

    (tmp_path / "test.tsv").write_text(CARB, encoding="utf-8")
    report = run_openie(tmp_path, extractor=extract, config=WORDS, limit=1)
    assert read == ["Ana lives in Bonn."]
    assert report.measures["f1"] == 1.0


def test_a_folder_without_data_and_a_foreign_file_are_refused(tmp_path):
    with pytest.raises(NotFoundError, match=r"test\.tsv"):
        run_openie(tmp_path, config=WORDS)
    for name, text, what in [("x.json", "[]", "WiRe57"), ("x.txt", "", "CaRB"), ("x.tsv", "only a sentence\n", "tabs")]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=what):
            run_openie(tmp_path / name, config=WORDS)


def test_carb_groups_the_tuples_of_a_sentence(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("s 1 .\tr\ta\tb\nt .\tr\ta\ns 1 .\tq\ta\tb\tc\n", encoding="utf-8")
    gold = read_carb(path)
    assert [(sentence, len(tuples)) for sentence, tuples in gold] == [("s 1 .", 2), ("t .", 1)]
    assert gold[0][1][1] == tuple_of("a | q | b | c")
