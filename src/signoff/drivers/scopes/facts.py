"""What a running task can know of itself: its config, its metadata, its runtime."""

import time
from typing import TYPE_CHECKING, Any

from signoff.config import RunnableConfig, shown_place
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_MAP, CHECKPOINT_NS, CONF, RUNTIME, SCOPE, THREAD_ID
from signoff.drivers.scopes.lines import in_turn
from signoff.runtime import ExecutionInfo, RunControl, Runtime, server_info

if TYPE_CHECKING:
    from signoff.drivers.host import Host
    from signoff.drivers.scopes.knowing import Knowing


def config_of(scope: "Knowing") -> RunnableConfig:
    """What the config of a task says, over that of its run."""
    host, task = scope.host, scope.task
    place = {
        CHECKPOINT_NS: task.shown_ns,
        CHECKPOINT_ID: None,
        CHECKPOINT_MAP: {**host.run.parents, host.run.ns: task.checkpoint_id},
        SCOPE: scope,
        RUNTIME: scope.runtime,
    }
    if host.run.thread_id:
        place[THREAD_ID] = host.run.thread_id
    config: RunnableConfig = {
        CONF: place,
        "metadata": {**metadata_of(scope), **(task.node.metadata or {})},
        "recursion_limit": host.run.recursion_limit,
    }
    return {**config, "tags": list(task.node.tags)} if task.node.tags else config


def metadata_of(scope: "Knowing") -> dict[str, Any]:
    """Facts about a task, as streams and traces show them."""
    host, task = scope.host, scope.task
    facts = {
        **shown_place(host.config),
        "langgraph_step": task.step,
        "langgraph_node": task.name,
        "langgraph_triggers": task.shown_triggers,
        "langgraph_path": task.shown_path,
        "langgraph_checkpoint_ns": task.shown_ns,
    }
    if host.run.thread_id:
        facts[THREAD_ID] = host.run.thread_id
    return facts


def runtime_of(scope: "Knowing") -> Runtime[Any]:
    """What a parameter `runtime: Runtime` receives."""
    host = scope.host
    return Runtime(
        context=host.context,
        store=host.store,
        stream_writer=scope.writer,
        heartbeat=scope.say_alive,
        previous=scope.previous,
        execution_info=_execution_info(scope),
        server_info=server_info(host.config.get(CONF) or {}),
        control=_control_of(host),
    )


def _control_of(host: "Host") -> RunControl:
    """The handle on a run, and on those around it. If none was given, it is made when a node may ask for it."""
    if host.run.control is not None:
        return host.run.control
    with in_turn:  # of tasks at the same moment, one makes it
        if host.run.control is None:
            host.run.control = RunControl() if host.parent is None else _control_of(host.parent.host)
    return host.run.control


def _execution_info(scope: "Knowing") -> ExecutionInfo:
    host, task = scope.host, scope.task
    if scope.first_attempt_at is None:  # there will be no other one
        scope.first_attempt_at = time.time()
    return ExecutionInfo(
        checkpoint_id=task.checkpoint_id,
        checkpoint_ns=task.shown_ns,
        task_id=task.id,
        thread_id=host.run.thread_id or None,
        run_id=host.run_id,
        node_attempt=scope.attempt,
        node_first_attempt_time=scope.first_attempt_at,
    )
