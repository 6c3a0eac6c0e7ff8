"""Reads tasks from text: input words, answers, and their positions among the tokens.

    numbers a b: 10 digits base 10     # or: words s: 20 symbols -5..5
    ensure z == abs(a - b)
    ensure negative == (a < b)
    prompt a[1..10] 10 b[10..1] 11     # a number is a fixed token; a[1] is the lowest digit
    answer negative z[1..10]
    tokens a b z = 0..9                # optional: the tokens of the symbols, by default 0, 1, 2, ...
    tokens negative = 12 13
    stop 14                            # optional: one of these tokens must follow the answer

The default base is 10. Every `ensure` line defines one answer, and the answer line lists every answer completely:

    z == FORM                          # the digits of a number; FORM uses + - *, constants, abs, max and min
    z == FORM mod 10^n                 # the lowest n digits, also for negative numbers
    z[i] == EXPR for i in 1..n         # the symbol in each column, from a[i], sum(a[1..i]), max(a[1..i]), min(a[1..i])
    flag == (FORM < FORM)              # 0 or 1; also with and, or, not, and with sum, max or min of a[1..n]
"""

from __future__ import annotations

from pathlib import Path

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, Problem, listing
from bitwright.common.files.documents import read_file
from bitwright.common.files.storage import as_path
from bitwright.common.scanner import END, MAX_LINE, Token, WrongError
from bitwright.rules.ensure_text import SCANNER
from bitwright.rules.ensures import EnsureLine
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout
from bitwright.transformers.specification import InputWord, Span, SpecificationReader, compile_lines, constant

MAX_TEXT = 1 << 20  # bytes of a text
MAX_LENGTH = 1_000  # symbols of a word
MAX_COLUMNS = MAX_LENGTH + 1  # of an answer; a sum may have one more digit
MAX_TOKEN = 1 << 16
MAX_SLOTS = 1 << 16  # tokens of a line
Slots = list[tuple[Token, int | Place]]


class TaskError(InputError):
    """Raised for a mistake in the text of a task, with its position."""

    def __init__(self, source: str, problem: Problem) -> None:
        super().__init__(f"{source}:{problem}" if problem.line else f"{source}: {problem}")
        self.problem = problem


def load_task(path: str | Path) -> ColumnTask:
    """Reads a task from a text file."""
    place = as_path(path, "a task")
    try:
        return read_task(read_file(place, MAX_TEXT).decode("utf-8-sig"), str(place))
    except UnicodeDecodeError:
        raise InputError(f"{place} is not a task: the text must be UTF-8") from None


def read_task(text: str, source: str = "task") -> ColumnTask:
    """Reads a task from text; raises InputError with the line and column of a mistake.

    >>> task = read_task('''
    ... numbers a b: 10 digits
    ... ensure z == a + b
    ... prompt a[1..10] 10 b[1..10] 11
    ... answer z[1..11]
    ... ''')
    >>> task.columns.statement, task.prompt_length, task.inputs == 10**20
    ('z == a + b', 22, True)
    """
    if not isinstance(text, str):
        raise InputError(
            f"read_task expects the text of a task, got {shorten(type(text).__name__)}; load_task reads a file"
        )
    parts, lines = _Parts(), text.splitlines()
    try:
        for number, line in enumerate(lines, 1):
            _read_line(parts, line, number)
        return _task(parts, Token(END, "", max(1, len(lines)), 1))
    except WrongError as error:
        raise TaskError(source, Problem(error.token.line, error.token.column, error.message)) from None
    except InputError as error:
        raise TaskError(source, Problem(0, 0, str(error))) from None
    except OverflowError:
        message = "answers and flags must fit 63 bits; use smaller constants, or reduce them mod a power of the base"
        raise TaskError(source, Problem(0, 0, message)) from None


class _Parts:
    """The parsed lines of a text, by kind."""

    def __init__(self) -> None:
        self.words: dict[str, InputWord] = {}
        self.ensures: dict[str, EnsureLine] = {}
        self.rows: dict[str, tuple[Token, Slots]] = {}  # for prompt, answer and stop
        self.tokens: dict[Token, tuple[int, ...]] = {}


def _read_line(parts: _Parts, line: str, number: int) -> None:
    if len(line) > MAX_LINE:
        raise WrongError(
            Token(END, "", number, 1), f"a line must have at most {MAX_LINE:,} characters, got {len(line):,}"
        )
    first, *rest = SCANNER.pieces(line, number)
    reader = _TaskReader(rest)
    if first.text in ("numbers", "words"):
        for word in reader.words(first.text == "numbers"):
            if word.name in parts.words:
                raise WrongError(first, f"'{word.name}' is declared twice; remove one declaration")
            parts.words[word.name] = word
    elif first.text == "ensure":
        statement = " ".join(line[rest[0].column - 1 : rest[-1].column - 1].split())
        parts.ensures[statement] = reader.statement(False)
    elif first.text in ("prompt", "answer", "stop"):
        if first.text in parts.rows:
            raise WrongError(first, f"a task must have only one line '{first.text}'; remove one")
        parts.rows[first.text] = first, reader.slots(first.text != "answer", first.text != "stop")
    elif first.text == "tokens":
        names = reader.names("=")
        parts.tokens |= dict.fromkeys(names, reader.fixed_tokens())
    elif first.kind != END:
        raise WrongError(first, f"expected numbers, words, ensure, prompt, answer, tokens or stop, found {first}")


def _task(parts: _Parts, end: Token) -> ColumnTask:
    """Returns the task from its parsed lines."""
    if not parts.words or not parts.ensures or not {"prompt", "answer"} <= {*parts.rows}:
        raise WrongError(end, "a task must have lines 'numbers' or 'words', 'ensure', 'prompt' and 'answer'")
    (prompt, read), (row, written) = parts.rows["prompt"], parts.rows["answer"]
    places = [slot for _, slot in written if isinstance(slot, Place)]
    digits = {place.word: place.column + 1 for place in sorted(places, key=lambda place: place.column)}
    lengths = {word.name: word.length for word in parts.words.values()}
    columned = {slot.word: token for token, slot in written if isinstance(slot, Place) and slot.column >= 0}
    if len(columned) > 1:
        raise WrongError(row, f"only one answer can have columns, got {' and '.join(columned)}")
    name, answer = next(iter(columned.items()), ("", end))
    length = max(*lengths.values(), digits.get(name, 1))
    columns = compile_lines(parts.ensures, [*parts.words.values()], answer, digits.get(name, 0), length)
    _check_places(prompt, read, lengths)
    _check_places(row, written, {output: digits[name] if output == name else 0 for output in columns.outputs})
    for token in parts.tokens:
        if token.text not in {*columns.words, *columns.outputs}:
            raise WrongError(token, f"'{token.text}' must be the name of a word or an answer")
    stop = tuple(slot for _, slot in parts.rows.get("stop", (end, []))[1] if isinstance(slot, int))
    tokens = {token.text: symbols for token, symbols in parts.tokens.items()}
    return ColumnTask(columns, PromptLayout(tuple(slot for _, slot in read), tuple(places), tokens, stop))


def _check_places(row: Token, slots: Slots, lengths: dict[str, int]) -> None:
    """Raises WrongError unless a row contains exactly the columns of these words, and those without columns."""
    wanted = [Place(name, column) for name, length in lengths.items() for column in (range(length) if length else [-1])]
    for token, slot in slots:
        if isinstance(slot, Place) and slot not in wanted:
            if row.text == "answer" and slot.word not in lengths:
                raise WrongError(token, f"no ensure line defines '{slot.word}'; add one, or remove the name")
            raise WrongError(token, f"the {row.text} cannot contain {slot}; choose from {listing([*map(str, wanted)])}")
    if missing := [str(place) for place in wanted if place not in [slot for _, slot in slots]]:
        raise WrongError(row, f"the {row.text} lacks {listing(missing)}")


class _TaskReader(SpecificationReader):
    """Parses a line after its first word."""

    def words(self, numbers: bool) -> list[InputWord]:
        """Parses `a b: 10 digits base 10`, or `s: 20 symbols -5..5`."""
        names, low = self.names(":"), 0
        length = self.between(1, MAX_LENGTH)
        self.expect("digits" if numbers else "symbols")
        if numbers:
            symbols = self.between(2, MAX_TOKEN) if self.accept("base") else 10
        else:
            low = self.between(-MAX_TOKEN, MAX_TOKEN)
            self.expect("..")
            symbols = self.between(low + 1, low + MAX_TOKEN) - low + 1
        if self.next.kind != END:
            raise self.refuse("the end of the line")
        return [InputWord(name.text, length, symbols, low, symbols if numbers else 0) for name in names]

    def names(self, end: str) -> list[Token]:
        names = [self.plain_name("a name")]
        while not self.accept(end):
            names.append(self.plain_name(f"a name or '{end}'"))
        return names

    def fixed_tokens(self) -> tuple[int, ...]:
        return tuple(slot for _, slot in self.slots(places=False) if isinstance(slot, int))

    def slots(self, fixed: bool = True, places: bool = True) -> Slots:
        """Tokens such as `11` and `0..9`, and places such as `a[1]`, `a[10..1]` and `negative`."""
        slots: Slots = []
        while (token := self.next).kind != END:
            if token.kind == "number" and fixed:
                first = self.between(0, MAX_TOKEN)
                last = self.between(first, MAX_TOKEN) if self.accept("..") else first
                slots += [(token, number) for number in range(first, last + 1)]
            elif token.kind == "name" and places:
                slots += [(token, place) for place in self.places()]
            else:
                raise self.refuse(
                    " or ".join(["a token, which is a number"] * fixed + ["a place such as a[1]"] * places)
                )
            if len(slots) > MAX_SLOTS:
                raise WrongError(token, f"a line must have at most {MAX_SLOTS:,} tokens")
        if not slots:
            raise self.refuse("a token or a place")
        return slots

    def places(self) -> list[Place]:
        part = self.name()
        if not isinstance(part, Span) and part.index is None:
            return [Place(part.text)]
        bounds = (part.first, part.last) if isinstance(part, Span) else (part.index, part.index)
        first, last = (constant(bound) for bound in bounds)
        if not 1 <= min(first, last) <= max(first, last) <= MAX_COLUMNS:
            raise WrongError(
                part.token, f"columns must be between 1 and {MAX_COLUMNS:,}, got {shorten(first)}..{shorten(last)}"
            )
        way = 1 if first <= last else -1
        return [Place(part.text, column - 1) for column in range(first, last + way, way)]

    def between(self, least: int, most: int) -> int:
        """Parses a constant between two limits."""
        token = self.next
        if not least <= (value := constant(self.sum())) <= most:
            raise WrongError(token, f"expected a number between {least:,} and {most:,}, got {shorten(value)}")
        return value
