"""Finding the graph that a command works with.

module:attr         support.flow:app
path.py:attr        flows/support.py:app
name                of the `graphs` table of langgraph.json in this folder
(nothing)           the only one of that table
"""

import importlib
import importlib.util
import inspect
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from signoff.errors import InvalidInput

TABLE = "langgraph.json"


def find(app: str | None, saver: Any) -> Any:
    """The compiled graph that a name means, with the saver of the command instead of its own."""
    found = _loaded(_resolved(app))
    if callable(found) and not hasattr(found, "invoke") and not hasattr(found, "compile"):
        found = _made(app, found)
    if hasattr(found, "compile") and not hasattr(found, "invoke"):
        return found.compile(checkpointer=saver)
    if not hasattr(found, "program"):
        raise InvalidInput(f"{app!r} is a {type(found).__name__}, not a graph. Name a StateGraph or a compiled graph.")
    return found.copy({"checkpointer": saver})


def _made(app: str | None, make: Callable[[], Any]) -> Any:
    """What a function of the user's makes; that of a coroutine function is waited for."""
    try:
        made = make()
        if not inspect.iscoroutine(made):
            return made
        import asyncio

        return asyncio.run(made)
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{app!r} made no graph: {_told(error)}.") from error


def needs_loop(graph: Any) -> bool:
    """Whether some node of a graph runs only on an event loop."""
    nodes = graph.program.nodes.values()
    return any(needs_loop(node.graph) if node.graph is not None else node.action.func is None for node in nodes)


def names() -> list[str]:
    """The graphs of the table, for shell completion."""
    try:
        return list(_table())
    except InvalidInput:
        return []


def _resolved(app: str | None) -> str:
    """`module:attr` or `path.py:attr`, from what the user typed."""
    if app is not None and ":" in app:
        return app
    table = _table()
    if app is None and len(table) == 1:
        return next(iter(table.values()))
    if app in table:
        return table[app]
    listed = f"{TABLE} has: {', '.join(table)}" if table else f"there is no {TABLE} with graphs in this folder"
    if app is not None and app.endswith(".py"):
        raise InvalidInput(f"Say which graph of {app} is meant: {app}:attr, such as {app}:app.")
    wrong = "Which app?" if app is None else f"There is no app {app!r}."
    raise InvalidInput(f"{wrong} Name it as module:attr or path.py:attr, or by its name in {TABLE}; {listed}.")


def _table() -> dict[str, str]:
    try:
        told = json.loads(Path(TABLE).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{TABLE} cannot be read: {error}.") from error
    graphs = told.get("graphs") or {} if isinstance(told, dict) else told
    if not isinstance(graphs, dict):
        raise _unread(f"it has no table of graphs, but {graphs!r:.60}")
    return {name: _place(name, told) for name, told in graphs.items()}


def _place(name: str, told: Any) -> str:
    place = told.get("path") if isinstance(told, dict) else told
    if not isinstance(place, str):
        raise _unread(f"the place of {name!r} is {place!r:.60}")
    return place


def _unread(why: str) -> InvalidInput:
    return InvalidInput(f'{TABLE} cannot be read: {why}. Write {{"graphs": {{"name": "path.py:attr"}}}}.')


def _loaded(place: str) -> Any:
    where, _, attr = place.rpartition(":")
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else _by_name(where)
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{where} cannot be loaded: {_told(error)}.") from error
    try:
        found: Any = module
        for name in attr.split("."):
            found = getattr(found, name)
    except AttributeError as error:
        public = ", ".join(name for name in vars(module) if not name.startswith("_"))
        raise InvalidInput(f"{where} has no {attr!r}. It has: {public}.") from error
    return found


def _told(error: BaseException) -> str:
    """An error and where it arose, in a file of the user's; a SyntaxError says so itself."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = "" if isinstance(error, SyntaxError) else f" ({Path(last.filename).name}, line {last.lineno})"
    return f"{type(error).__name__}: {error}{where}"


def _by_name(name: str) -> ModuleType:
    _look_here()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        raise InvalidInput(f"There is no module {name!r} here. Name a file instead: path.py:attr.") from error


def _look_here() -> None:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidInput(f"There is no file {str(path)!r}.")
    _look_here()
    file = path.resolve()
    return _in_package(file) or _alone(file)


def _in_package(file: Path) -> ModuleType | None:
    """The module of a file, by the name under which the others of its package import it."""
    names, folder = [file.stem], file.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        names, folder = [folder.name, *names], folder.parent
    if len(names) == 1:
        return None
    sys.path.insert(0, str(folder))
    sys.path.append(str(file.parent))  # for what imports its neighbours as a script does
    package = importlib.import_module(names[0])
    if Path(package.__file__ or "").resolve() != folder / names[0] / "__init__.py":
        return None  # another one that has its name
    return importlib.import_module(".".join(names).removesuffix(".__init__"))


def _alone(file: Path) -> ModuleType:
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    name = file.stem if known is None else f"signoff_app_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None, "a .py file has a spec"
    assert spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
