"""Batches: one call for several inputs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any

from signoff._reprs import repr_of
from signoff.config import ConfigLike
from signoff.errors import InvalidInput

Configs = ConfigLike | Sequence[ConfigLike] | None


def refuse_in_its_loop(saver: Any) -> None:
    """Refuse threads that would use an async saver where its event loop would wait for them."""
    if getattr(saver, "loop", None) is None:
        return
    from signoff._loops import running_loop, sync_call_in_loop

    if saver.loop is running_loop():
        raise sync_call_in_loop(saver)


def batched(
    invoke: Callable[..., Any],
    inputs: Sequence[Any],
    configs: Configs,
    keeps_errors: bool,
    kwargs: dict[str, Any],
) -> list[Any]:
    """The results of the inputs, in their order, worked on in threads."""
    from concurrent.futures import ThreadPoolExecutor

    each = _one_each(inputs, configs)
    if not inputs:
        return []
    with ThreadPoolExecutor(_limit(each) or len(inputs)) as pool:
        calls = [
            pool.submit(copy_context().run, partial(invoke, input, config, **kwargs))
            for input, config in zip(inputs, each, strict=True)
        ]
        errors = [call.exception() for call in calls]
    return [
        error if error is not None and keeps_errors and isinstance(error, Exception) else call.result()
        for call, error in zip(calls, errors, strict=True)
    ]


async def abatched(
    ainvoke: Callable[..., Awaitable[Any]],
    inputs: Sequence[Any],
    configs: Configs,
    keeps_errors: bool,
    kwargs: dict[str, Any],
) -> list[Any]:
    """The results of the inputs, in their order, worked on at the same time."""
    import asyncio

    each = _one_each(inputs, configs)
    gate = asyncio.Semaphore(_limit(each) or len(inputs) or 1)

    async def one(input: Any, config: ConfigLike | None) -> Any:
        async with gate:
            return await ainvoke(input, config, **kwargs)

    calls = [one(input, config) for input, config in zip(inputs, each, strict=True)]
    results = list(await asyncio.gather(*calls, return_exceptions=keeps_errors))
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, Exception):
            raise result  # a pause is no error
    return results


def _one_each(inputs: Sequence[Any], configs: Configs) -> list[ConfigLike | None]:
    if isinstance(inputs, str) or not isinstance(inputs, Sequence):
        raise InvalidInput(f"batch takes a list of inputs, not {repr_of(inputs)}. For one input there is invoke.")
    if configs is None or isinstance(configs, Mapping):
        return [configs] * len(inputs)
    if not isinstance(configs, Sequence) or not all(isinstance(one, Mapping | None) for one in configs):
        raise InvalidInput(f"batch takes one config, or a list of them, not {repr_of(configs)}.")
    if len(configs) != len(inputs):
        raise InvalidInput(
            f"There are {len(inputs)} inputs and {len(configs)} configs. Give one config, or one for each."
        )
    return list(configs)


def _limit(configs: Sequence[ConfigLike | None]) -> int | None:
    limits = (config["max_concurrency"] for config in configs if config and config.get("max_concurrency"))
    return next((limit for limit in limits if isinstance(limit, int) and limit > 0), None)  # else each call refuses it
