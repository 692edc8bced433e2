"""The documentation is true: every Python block of README.md and docs/*.md runs, and does what its comments say.

    print(total)            # 3                         what this statement prints
    app.invoke(None)        # raises EmptyInputError    the error of this statement, and perhaps `: part of the message`
    # prints one            what the statement above prints, line by line
    #        two

`...` stands for anything. The blocks of a page share their names, in order.
"""

import ast
import contextlib
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from signoff import errors
from signoff.types import Durability, StreamMode

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def place(page: Path) -> str:
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_every_block_of_a_page_runs_and_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(place(page), page.read_text(encoding="utf-8"))


# Running a page


def run_page(page: str, text: str) -> None:
    """Run the Python blocks of a page, one after the other, as one module."""
    module = ModuleType(re.sub(r"\W", "_", page))
    del module.__spec__  # it was not imported, and Python 3.15 warns of a spec that does not say from where
    module.__dict__["__checks__"] = Checks(page)
    sys.modules[module.__name__] = module  # where typing looks up what an annotation means
    try:
        for line, code in python_blocks(text):
            run_block(page, line, code, module)
    finally:
        del sys.modules[module.__name__]


def python_blocks(text: str) -> Iterator[tuple[int, str]]:
    """The Python blocks of a page, each with the number of its first line."""
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start(1)) + 1, block[1]


def run_block(page: str, line: int, code: str, module: ModuleType) -> None:
    try:
        # Empty lines in front, so that every line has the number that it has in the page.
        program = with_checks("\n" * (line - 1) + code)
        exec(compile(program, page, "exec"), module.__dict__)
    except SyntaxError as error:
        pytest.fail(f"{page}:{error.lineno}: {error.msg}", pytrace=False)
    except Exception as error:
        frames = [number for frame, number in _frames(error) if frame == page]
        raise AssertionError(f"{page}:{frames[-1] if frames else line}: {type(error).__name__}: {error}") from error


def _frames(error: BaseException) -> Iterator[tuple[str, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


# From comments to checks


def with_checks(code: str) -> ast.Module:
    """The program with each statement that has something said about it inside of a check."""
    tree = ast.parse(code)
    said = {id(statement): claim for statement, claim in claims(code, tree)}

    class Wrapping(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            claim = said.get(id(node))
            node = super().generic_visit(node)
            return _checked(node, *claim) if claim else node

    return ast.fix_missing_locations(Wrapping().visit(tree))


def _checked(statement: ast.stmt, kind: str, expected: str, line: int) -> ast.With:
    call = ast.parse(f"__checks__.{kind}({expected!r}, {line})", mode="eval").body
    wrapped = ast.With(items=[ast.withitem(context_expr=call)], body=[statement])
    for node in ast.walk(call):
        ast.copy_location(node, statement)
    return ast.copy_location(wrapped, statement)


def claims(code: str, tree: ast.Module) -> Iterator[tuple[ast.stmt, tuple[str, str, int]]]:
    """The statements that a comment says something about, and what it says."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    lines = code.splitlines()
    for line, column, text in comments(code):
        if text.startswith("prints ") and not lines[line - 1][:column].strip():
            above = [one for one in statements if one.end_lineno < line and one.col_offset == column]
            statement = max(above, key=lambda one: (one.end_lineno, -one.lineno))
            yield statement, ("prints", "\n".join([text.removeprefix("prints "), *_more(lines[line:], column)]), line)
            continue
        on_it = [one for one in statements if one.lineno <= line <= one.end_lineno]
        statement = max(on_it, key=lambda one: one.lineno, default=None)
        if text.startswith("raises ") and statement is not None:
            yield statement, ("raises", text.removeprefix("raises "), line)
        elif _is_print(statement) and statement.end_lineno == line:
            yield statement, ("prints", text.removeprefix("prints "), line)


def comments(code: str) -> Iterator[tuple[int, int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield *token.start, token.string.removeprefix("#").removeprefix(" ")


def _more(lines: list[str], column: int) -> Iterator[str]:
    """The further lines of a `# prints` comment: they stand below its first one."""
    margin = " " * column + "#" + " " * len(" prints ")
    for line in lines:
        if not line.startswith(margin) and line.rstrip() != " " * column + "#":
            return
        yield line[len(margin) :]


def _is_print(statement: ast.stmt | None) -> bool:
    call = getattr(statement, "value", None)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


class Checks:
    """What a page says about its statements, as context managers around them."""

    def __init__(self, page: str) -> None:
        self.page = page

    @contextlib.contextmanager
    def prints(self, expected: str, line: int) -> Iterator[None]:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            yield
        shown = "\n".join(part.rstrip() for part in printed.getvalue().rstrip().splitlines())
        if not matches(expected, shown):
            pytest.fail(f"{self.page}:{line}: it prints\n{shown}\nand not\n{expected}", pytrace=False)

    @contextlib.contextmanager
    def raises(self, expected: str, line: int) -> Iterator[None]:
        name, _, message = expected.partition(": ")
        try:
            yield
        except BaseException as error:
            names = [cls.__name__ for cls in type(error).__mro__]
            if name not in names or not matches(f"...{message}...", str(error)):
                pytest.fail(f"{self.page}:{line}: it raises {type(error).__name__}: {error}", pytrace=False)
        else:
            pytest.fail(f"{self.page}:{line}: it does not raise {name}", pytrace=False)


def matches(expected: str, shown: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), shown, re.DOTALL) is not None


# The checks themselves


def failure_of(*lines: str) -> str:
    with pytest.raises((AssertionError, pytest.fail.Exception)) as caught:
        run_page("page.md", "\n".join(["# A page", "", "```python", *lines, "```", ""]))
    return str(caught.value)


def test_a_wrong_value_behind_a_print_names_file_and_line():
    assert failure_of("x = 1", "print(x)  # 2").startswith("page.md:5: it prints\n1\nand not\n2")


def test_a_wrong_value_below_a_loop_names_file_and_line():
    assert failure_of("for x in 'ab':", "    print(x)", "# prints a", "#        c").startswith(
        "page.md:6: it prints\na\nb"
    )


def test_an_error_that_does_not_come_names_file_and_line():
    assert failure_of("x = 1  # raises ValueError") == "page.md:4: it does not raise ValueError"


def test_another_error_than_said_names_file_and_line():
    assert failure_of("int('x')  # raises KeyError").startswith("page.md:4: it raises ValueError")


def test_another_message_than_said_names_file_and_line():
    assert failure_of("int('x')  # raises ValueError: nothing").startswith("page.md:4: it raises ValueError")


def test_a_failing_block_names_file_and_line():
    failure = failure_of("def f():", "    return 1 / 0", "", "f()")
    assert failure == "page.md:5: ZeroDivisionError: division by zero"


def test_a_block_that_cannot_be_read_names_file_and_line():
    assert failure_of("x = 1", "x ==").startswith("page.md:5: ")


def test_what_is_said_rightly_passes():
    block = ["def f(x):", "    return int(x)", "", "f('x')  # raises ValueError: invalid literal"]
    block += [
        "if f('1'):",
        "    print(f('1'))  # 1",
        "for x in 'ab':",
        "    print([x])",
        "# prints ['a']",
        "#        [...]",
    ]
    run_page("page.md", "\n".join(["```python", *block, "```", "```", "not python", "```", ""]))


# What the pages have to have


def test_the_reference_of_errors_has_an_example_of_every_error():
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert set(errors.__all__) - sections.keys() == set(), "docs/errors.md forgot these"
    assert [name for name in errors.__all__ if not list(python_blocks(sections[name]))] == []


def test_the_guide_names_every_stream_mode_and_durability():
    text = (ROOT / "docs" / "graphs.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `\"?(\w+)\"?`", text, re.MULTILINE))
    assert {*get_args(StreamMode), *get_args(Durability)} - rows == set()


def test_every_deliberate_difference_from_langgraph_is_told():
    text = re.sub(r"[`*]", "", (ROOT / "docs" / "langgraph.md").read_text(encoding="utf-8")).lower()
    tests = (ROOT / "tests" / "parity" / "test_differences.py").read_text(encoding="utf-8")
    promises = [name.replace("_", " ") for name in re.findall(r"^def test_(\w+)", tests, re.MULTILINE)]
    assert [promise for promise in promises if promise not in text] == [], "docs/langgraph.md forgot these"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md"], ids=place)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "page", [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))], ids=place
)
def test_files_that_are_named_are_there(page):
    named = re.findall(r"(?<![\w./])\w[\w/]*/\w+\.py\b", page.read_text(encoding="utf-8"))
    homes = [ROOT, ROOT / "src" / "signoff", ROOT / "src" / "signoff" / "engine"]
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []
