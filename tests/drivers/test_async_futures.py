"""Futures of calls in an async run."""

import asyncio
import gc

import pytest

from signoff.drivers.aio_futures import CallFuture
from signoff.errors import GraphInterrupt


@pytest.mark.parametrize(("error", "warnings"), [(GraphInterrupt(), 0), (OSError("no connection"), 1)])
def test_a_pause_that_nobody_waits_for_is_nothing_to_warn_of(error, warnings):
    told = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["message"]))
        CallFuture().set_exception(error)
        gc.collect()

    asyncio.run(main())
    assert len(told) == warnings
