"""Every parser gives one well-formed tree per sentence, which depends on the sentence alone."""

import hashlib
import itertools
import json
import random
import threading
from collections.abc import Iterator, Sequence
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.backends import load
from doxa.backends.parser import CachedParser, Parse, Parser, split
from doxa.backends.parser.tree import best_tree
from doxa.core.errors import BackendError, ClosedError, ConfigError

TEXT = (
    "I moved to Berlin in March because my sister lives there. My dog Rex, who is three, hates cats! "
    "i dont like sushi but my brother does. She paid $20 for it. Hello? Why not"
)
SENTENCES = tuple(tuple(word.form for word in sentence) for sentence in split(TEXT))
JUNK = ("\ud800", "\x00", "🧑‍🚀" * 50, "\u202e", "ẍ" * 300, "漢字かな交じり文", "-", "", " ")

# Each word as `form>head:deprel`; the heads are unambiguous, written by hand and not taken from a treebank.
EXPECTED = (
    "She>loves:nsubj loves>0:root old>films:amod films>loves:obj .>loves:punct",
    "My>sister:nmod:poss sister>lives:nsubj lives>0:root in>Rome:case Rome>lives:obl .>lives:punct",
    "I>teacher:nsubj am>teacher:cop a>teacher:det teacher>0:root .>teacher:punct",
    "We>seen:nsubj have>seen:aux not>seen:advmod seen>0:root him>seen:obj .>seen:punct",
    "Tom>bought:nsubj bought>0:root two>books:nummod books>bought:obj yesterday>bought:obl:unmarked .>bought:punct",
    "The>cake:det cake>eaten:nsubj:pass was>eaten:aux:pass eaten>0:root by>Ana:case Ana>eaten:obl:agent .>eaten:punct",
    "He>said:nsubj said>0:root that>left:mark she>left:nsubj left>said:ccomp .>said:punct",
    "I>want:nsubj want>0:root to>learn:mark learn>want:xcomp Spanish>learn:obj .>want:punct",
    "They>like:nsubj like>0:root tea>like:obj and>coffee:cc coffee>tea:conj .>like:punct",
    "The>man:det man>friend:nsubj who>called:nsubj called>man:acl:relcl is>friend:cop my>friend:nmod:poss "
    "friend>0:root .>friend:punct",
    "If>rains:mark it>rains:nsubj rains>stay:advcl ,>rains:punct I>stay:nsubj will>stay:aux stay>0:root .>stay:punct",
    "There>are:expl are>0:root three>cats:nummod cats>are:nsubj .>are:punct",
    "Give>0:root me>Give:iobj the>keys:det keys>Give:obj !>Give:punct",
    "Where>live:advmod do>live:aux you>live:nsubj live>0:root ?>live:punct",
    "Ana>dog:nmod:poss 's>Ana:case dog>sleeps:nsubj sleeps>0:root at>home:case home>sleeps:obl .>sleeps:punct",
    "She>tall:nsubj is>tall:cop very>tall:advmod tall>0:root .>tall:punct",
    "He>gave:nsubj gave>0:root up>gave:compound:prt smoking>gave:obj .>gave:punct",
    "i>like:nsubj do>like:aux nt>like:advmod like>0:root fish>like:obj",
    "my>dog:nmod:poss dog>sick:nsubj is>sick:cop sick>0:root today>sick:obl:unmarked",
    "I>came:nsubj came>0:root because>hungry:mark I>hungry:nsubj was>hungry:cop hungry>came:advcl .>came:punct",
)


@pytest.fixture(scope="module")
def builtin() -> Iterator[Parser]:
    """The parser in the wheel, loaded once."""
    parser = load("parser", "builtin", threads=2)
    yield parser
    parser.close()


@pytest.fixture(params=["builtin", "cached"])
def parser(request: pytest.FixtureRequest, builtin: Parser) -> Parser:
    """Each implementation in turn; a new one adds a line."""
    return CachedParser(builtin, capacity=3) if request.param == "cached" else builtin


def is_tree(heads: Sequence[int]) -> bool:
    """Whether one word is the root and every other one reaches it."""
    if list(heads).count(-1) != 1:
        return False
    for start in range(len(heads)):
        at = start
        for _ in heads:
            if at < 0:
                break
            at = heads[at]
        if at >= 0:
            return False
    return True


def check(parse: Parse, sentence: Sequence[str]) -> None:
    """Fails unless the parse is complete and well formed."""
    size = len(sentence)
    assert parse.forms == tuple(sentence)
    for name in ("lemmas", "upos", "heads", "deprels", "tags", "confidences"):
        assert len(getattr(parse, name)) == size, name
    assert not size or is_tree(parse.heads)
    assert all((head < 0) == (label == "root") for head, label in zip(parse.heads, parse.deprels, strict=True))
    assert all(0.0 <= share <= 1.0 for share in parse.confidences)
    for before, tag in itertools.pairwise(("O", *parse.tags)):
        assert not tag.startswith("I-") or before[2:] == tag[2:]


class TestContract:
    """What holds for every parser."""

    def test_gives_one_well_formed_parse_per_sentence(self, parser: Parser) -> None:
        """As many entries as words, one root, no cycles, tags that continue what they began."""
        for sentence, parse in zip(SENTENCES, parser.parse(SENTENCES), strict=True):
            check(parse, sentence)

    def test_a_sentence_has_one_parse_in_any_company(self, parser: Parser) -> None:
        """Alone, among others, in another order and twice: the same, to the last digit."""
        parses = parser.parse(SENTENCES)
        order = random.Random(3).sample(range(len(SENTENCES)), len(SENTENCES))
        assert parser.parse([SENTENCES[at] for at in order]) == [parses[at] for at in order]
        assert [parser.parse([sentence])[0] for sentence in SENTENCES] == parses
        assert parser.parse(SENTENCES * 3) == parses * 3

    def test_no_sentences_give_no_parses(self, parser: Parser) -> None:
        """Neither does a sentence without words stop it."""
        assert parser.parse([]) == []
        check(parser.parse([[]])[0], [])

    @pytest.mark.parametrize("word", JUNK, ids=ascii)
    def test_any_word_is_parsed(self, parser: Parser, word: str) -> None:
        """Control characters, lone surrogates, rare scripts, emptiness."""
        check(parser.parse([[word, "and", word]])[0], [word, "and", word])

    def test_threads_may_share_it(self, parser: Parser) -> None:
        """Calls from several threads give what one thread gives."""
        expected = parser.parse(SENTENCES)
        found: list[list[Parse]] = []
        threads = [threading.Thread(target=lambda: found.append(parser.parse(SENTENCES))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * len(threads)

    @settings(max_examples=25)
    @given(text=st.text(max_size=80))
    def test_any_text_can_be_split_and_parsed(self, builtin: Parser, text: str) -> None:
        """Whatever people type has a parse."""
        sentences = [[word.form for word in sentence] for sentence in split(text)]
        for sentence, parse in zip(sentences, builtin.parse(sentences), strict=True):
            check(parse, sentence)


class TestBuiltin:
    """The parser in the wheel."""

    def test_heads_are_those_that_a_linguist_expects(self, builtin: Parser) -> None:
        """Over twenty plain sentences, nearly all arcs with their labels."""
        right = total = 0
        wrong = []
        for line in EXPECTED:
            cells = [cell.partition(">") for cell in line.split(" ")]
            forms = [form for form, _, _ in cells]
            parse = builtin.parse([forms])[0]
            for at, (form, _, arc) in enumerate(cells):
                head = "0" if parse.heads[at] < 0 else forms[parse.heads[at]]
                found = f"{head}:{parse.deprels[at]}"
                total += 1
                right += found == arc
                if found != arc:
                    wrong.append(f"{form}: {found}, not {arc}")
        assert right >= 0.97 * total, wrong

    @pytest.mark.parametrize(
        ("form", "sentence", "lemma"),
        [
            ("bought", "She bought it .", "buy"),
            ("children", "My children are fine .", "child"),
            ("was", "It was late .", "be"),
            ("ca", "I ca n't go .", "can"),
            ("n't", "I ca n't go .", "not"),
            ("cities", "I like big cities .", "city"),
            ("running", "He is running .", "run"),
            ("Paris", "We saw Paris .", "Paris"),
            ("better", "This is better .", "good"),
        ],
    )
    def test_lemmas(self, builtin: Parser, form: str, sentence: str, lemma: str) -> None:
        """Regular, irregular and names."""
        words = sentence.split(" ")
        assert builtin.parse([words])[0].lemmas[words.index(form)] == lemma

    @pytest.mark.parametrize(
        ("sentence", "kind", "words"),
        [
            ("We met on Monday .", "TIME", "Monday"),
            ("I moved to Berlin .", "PLACE", "Berlin"),
            ("My friend Sarah called .", "PERSON", "Sarah"),
            ("It cost $ 20 .", "QUANTITY", "$ 20"),
            ("I will be back at 3 pm .", "TIME", "3 pm"),
        ],
    )
    def test_spans_are_tagged(self, builtin: Parser, sentence: str, kind: str, words: str) -> None:
        """Times, places, persons and amounts."""
        parse = builtin.parse([sentence.split(" ")])[0]
        tagged = [form for form, tag in zip(parse.forms, parse.tags, strict=True) if tag[2:] == kind]
        assert set(words.split(" ")) <= set(tagged)

    def test_a_very_long_sentence_is_cut_and_joined_without_loss(self, builtin: Parser) -> None:
        """Five hundred words are several calls and still one tree."""
        sentence = ("I saw a cat , " * 100).split()
        check(builtin.parse([sentence])[0], sentence)
        check(builtin.parse([["word"] * 1_000])[0], ["word"] * 1_000)

    def test_a_text_of_ten_thousand_characters_is_parsed(self, builtin: Parser) -> None:
        """Without any sign that ends a sentence."""
        sentences = [[word.form for word in sentence] for sentence in split("and then we went home " * 455)]
        for sentence, parse in zip(sentences, builtin.parse(sentences), strict=True):
            check(parse, sentence)

    def test_threads_do_not_change_parses(self, builtin: Parser) -> None:
        """One thread and two give the same."""
        alone = load("parser", "builtin", threads=1)
        assert alone.parse(SENTENCES) == builtin.parse(SENTENCES)
        alone.close()

    def test_the_card_agrees_with_the_model(self) -> None:
        """`model.json` holds the checksum of the file that ships, which is small."""
        folder = files("doxa.backends.parser") / "minilm-l6-frames-int8"
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        model = (folder / "model.onnx").read_bytes()
        assert card["sha256"] == hashlib.sha256(model).hexdigest()
        assert len(model) <= 25_000_000

    def test_a_closed_parser_says_so(self) -> None:
        """After `close()`, which may be called twice, `parse` raises our error."""
        parser = load("parser", "builtin")
        parser.close()
        parser.close()
        with pytest.raises(ClosedError):
            parser.parse(SENTENCES)

    def test_another_name_or_no_threads_are_refused(self) -> None:
        """The message says what there is."""
        with pytest.raises(ConfigError, match="minilm-l6-frames-int8"):
            load("parser", "builtin:other")
        with pytest.raises(ConfigError, match="threads"):
            load("parser", "builtin", threads=0)

    def test_missing_files_become_our_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A package without its model says to reinstall."""
        monkeypatch.setattr("doxa.backends.parser.onnx.MODEL", "absent")
        with pytest.raises(BackendError, match="Reinstall"):
            load("parser", "builtin")


class TestCached:
    """The wrapper that remembers parses."""

    class Counting:
        """A double that writes down what it was asked, and hangs every word on the first one."""

        name = "counting"

        def __init__(self) -> None:
            self.asked: list[str] = []

        def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
            """Notes the sentences."""
            self.asked += [" ".join(sentence) for sentence in sentences]
            return [self._chain(tuple(sentence)) for sentence in sentences]

        def close(self) -> None:
            """Has nothing to close."""

        def _chain(self, forms: tuple[str, ...]) -> Parse:
            same = ("x",) * len(forms)
            heads = (-1, *(0 for _ in forms[1:]))
            ones = tuple(1.0 for _ in forms)
            return Parse(forms=forms, lemmas=forms, upos=same, heads=heads, deprels=same, tags=same, confidences=ones)

    def test_a_sentence_reaches_the_model_once(self) -> None:
        """Repeats, in one call or later, come from the cache."""
        inner = self.Counting()
        cached = CachedParser(inner)
        cached.parse([["a"], ["b"], ["a"]])
        cached.parse([["b"], ("a",)])
        assert inner.asked == ["a", "b"]

    def test_the_longest_unused_sentence_is_forgotten_first(self) -> None:
        """At capacity two, a third sentence pushes out the one not used since."""
        inner = self.Counting()
        cached = CachedParser(inner, capacity=2)
        for word in ("a", "b", "a", "c", "a", "b"):
            cached.parse([[word]])
        assert inner.asked == ["a", "b", "c", "b"]


SCORES = st.integers(1, 4).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(-9, 9), min_size=size + 1, max_size=size + 1), min_size=size, max_size=size
    )
)


class TestTree:
    """The search for the best tree."""

    @given(SCORES)
    def test_no_tree_with_one_root_scores_higher(self, rows: list[list[int]]) -> None:
        """Against all trees, for up to four words."""
        scores = np.array(rows, dtype=np.float32)
        size = len(scores)

        def total(heads: Sequence[int]) -> float:
            return float(sum(scores[at, head + 1] for at, head in enumerate(heads)))

        trees = [heads for heads in itertools.product(range(-1, size), repeat=size) if is_tree(heads)]
        found = best_tree(scores).tolist()
        assert is_tree(found)
        assert total(found) == max(map(total, trees))

    @given(st.integers(0, 60), st.integers(0, 9))
    def test_any_scores_give_a_tree(self, size: int, seed: int) -> None:
        """Random scores are full of cycles."""
        scores = np.random.default_rng(seed).normal(size=(size, size + 1))
        heads = best_tree(scores).tolist()
        assert len(heads) == size
        assert not size or is_tree(heads)
