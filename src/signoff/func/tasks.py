"""`@task`: a function whose result is kept, so that a run that starts over does not do it again."""

import inspect
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, Never, Protocol, TypeVar, overload

from typing_extensions import ParamSpec

from signoff import _scope
from signoff._annotations import fits, signature_of
from signoff._words.policies import CachePolicy, RetryPolicy, TimeoutPolicy
from signoff.constants import RETURN
from signoff.engine.policies import as_policies, checked_policy
from signoff.engine.program import Action, Node
from signoff.engine.storing.node_cache import cache_ns
from signoff.errors import InvalidGraph
from signoff.func.hints import register_types_of
from signoff.func.results import awaited
from signoff.pregel.actions import action_of, check_timeout, name_of, refuse_no_function
from signoff.pregel.extras import place_of
from signoff.pregel.keywords import refuse_old

if TYPE_CHECKING:
    from concurrent.futures import Future

    from signoff.cache.base import BaseCache

__all__ = ["TaskFunction", "task"]

P = ParamSpec("P")
T = TypeVar("T")

if TYPE_CHECKING:

    class TaskFuture(Future[T]):
        """What a call will have come to: `.result()` waits for it in a sync run, `await` in an async one."""

        def __await__(self) -> Generator[Any, None, T]: ...

    class _Decorator(Protocol):
        @overload
        def __call__(self, __func: Callable[P, Awaitable[T]]) -> "TaskFunction[P, T]": ...
        @overload
        def __call__(self, __func: Callable[P, T]) -> "TaskFunction[P, T]": ...


class TaskFunction(Generic[P, T]):
    """A function that can be called inside of an entrypoint or a node; each call gives a future."""

    def __init__(self, func: Callable[P, Any], node: Node) -> None:
        self.func = func
        self.node = node
        update_wrapper(self, func)

    @property
    def name(self) -> str:
        """The name that streams and histories show."""
        return self.node.name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> "TaskFuture[T]":
        scope = _scope.running.get() or _scope.current(f"The task {self.name!r}")
        future: TaskFuture[T] = scope.call(self.node, (args, kwargs))
        return future

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A task that is a method is called with its object, or class; one that only stands in a class, without."""
        return self if instance is None or not _is_method(self.func, instance) else _Bound(self, instance)

    def clear_cache(self, cache: "BaseCache[Any]") -> None:
        """Forget the cached results."""
        cache.clear([cache_ns(self.node.action, self.name)])

    async def aclear_cache(self, cache: "BaseCache[Any]") -> None:
        """Forget the cached results."""
        await cache.aclear([cache_ns(self.node.action, self.name)])


class _Bound:
    """A task that is a method of an object, as that object has it."""

    def __init__(self, function: TaskFunction[Any, Any], instance: Any) -> None:
        self.function = function
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Programs that were written for LangGraph give the object themselves: order.pay(order, 5).
        is_given = bool(args) and args[0] is self.instance and fits(self.function.func, *args, **kwargs)
        return self.function(*args, **kwargs) if is_given else self.function(self.instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


def _is_method(func: Any, instance: Any) -> bool:
    """Whether a function is for an object; or for a class, which a classmethod hands on before Python 3.13."""
    name = "cls" if isinstance(instance, type) else "self"
    return inspect.isfunction(func) and next(iter(signature_of(func).parameters), "") == name


@overload
def task(__func: Callable[P, Awaitable[T]]) -> TaskFunction[P, T]: ...
@overload
def task(__func: Callable[P, T]) -> TaskFunction[P, T]: ...
@overload
def task(
    *,
    name: str | None = None,
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
    cache_policy: CachePolicy | None = None,
    timeout: float | timedelta | TimeoutPolicy | None = None,
) -> "_Decorator": ...
def task(
    __func: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
    cache_policy: CachePolicy | None = None,
    timeout: float | timedelta | TimeoutPolicy | None = None,
    **old: Never,
) -> Any:
    """Make a function a task: `@task`, or `@task(name=..., retry_policy=...)`."""
    refuse_old("task()", old)
    if isinstance(__func, str):
        raise InvalidGraph(f"task({__func!r}) is given no function. For a name, write @task(name={__func!r}).")
    if not isinstance(name, str | None):
        raise InvalidGraph(f"The name of a task must be a text, not {name!r}.")
    policy, retry, cache = TimeoutPolicy.coerce(timeout), as_policies(retry_policy), checked_policy(cache_policy)

    def decorate(func: Callable[..., Any]) -> TaskFunction[Any, Any]:
        refuse_no_function("task", func)
        label = name or name_of(func)
        check_timeout(label, func, policy)
        register_types_of(func)
        node = Node(
            label,
            _spread(action_of(func, label, positional=0)),
            triggers=(),
            read=lambda values, step, stop: None,
            updates=lambda result: [(RETURN, awaited(label, result))],
            retry=retry,
            cache=cache,
            timeout=policy,
        )
        return TaskFunction(func, node)

    return decorate if __func is None else decorate(__func)


def _spread(action: Action) -> Action:
    """The action that takes a call's arguments as one input."""
    return replace(
        action,
        func=None if action.func is None else _of_one_input(action.func, action.takes),
        afunc=None if action.afunc is None else _of_one_input(action.afunc, action.takes),
    )


def _of_one_input(func: Callable[..., Any], takes: Sequence[str]) -> Callable[..., Any]:
    places = [(name, place) for name in takes if (place := place_of(func, name)) is not None]

    def call(input: tuple[tuple[Any, ...], dict[str, Any]], **extra: Any) -> Any:
        args, kwargs = input
        for name, place in places:
            if place < len(args):  # the caller has given something else for it
                del extra[name]
        return func(*args, **{**extra, **kwargs})

    call.__wrapped__ = func  # type: ignore[attr-defined]
    return call
