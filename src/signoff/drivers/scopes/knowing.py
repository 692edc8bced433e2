"""What a task can know: its config, its runtime, what its function's parameters receive."""

from typing import Any

from signoff import _ambient
from signoff._copies import apart
from signoff.config import RunnableConfig, merge_configs
from signoff.constants import PREVIOUS
from signoff.drivers.scopes import facts
from signoff.drivers.scopes.failing import Failing
from signoff.runtime import Runtime


class Knowing(Failing):
    """The part of a scope that tells the task about itself."""

    __slots__ = ("_config", "_runtime", "attempt", "callbacks", "first_attempt_at")

    attempt: int
    first_attempt_at: float | None
    callbacks: Any
    """The callbacks of what the task calls, where LangChain is watching."""
    _config: RunnableConfig | None
    _runtime: Runtime[Any] | None

    @property
    def config(self) -> RunnableConfig:
        """The config that the task's own calls get."""
        if self._config is None:
            config = merge_configs(self.host.config, facts.config_of(self))
            # The name and the id are those of the run itself, not of what its tasks call.
            config.pop("run_id", None)
            config.pop("run_name", None)
            if self.callbacks is not None:
                config["callbacks"] = self.callbacks
            elif not config.get("callbacks"):
                # There even if nobody listens, so that a node may hand them on without asking.
                config["callbacks"] = _ambient.unheard(is_async=self.host.loop is not None)
            self._config = config  # not before: threads beside the task look at it, too
        return self._config

    def tell_to(self, callbacks: Any) -> None:
        """From now on, what the task calls reports to these callbacks."""
        self.callbacks, self._config = callbacks, None

    @property
    def inherited(self) -> RunnableConfig:
        """The config of a graph that the task calls without one: the task's, where that says more than the run's."""
        node = self.task.node
        return self.config if self.callbacks is not None or node.metadata or node.tags else self.host.config

    @property
    def metadata(self) -> dict[str, Any]:
        """Facts about the task, as streams and traces show them."""
        return facts.metadata_of(self)

    @property
    def runtime(self) -> Runtime[Any]:
        """What a parameter `runtime: Runtime` receives."""
        if self._runtime is None:
            self._runtime = facts.runtime_of(self)
        return self._runtime

    @property
    def previous(self) -> Any:
        """What the entrypoint saved for this run when it last returned."""
        return apart(self.task.values.get(PREVIOUS))

    def argument(self, name: str) -> Any:
        """What a parameter of the node's function receives."""
        match name:
            case "config":
                return self.config
            case "runtime":
                return self.runtime
            case "writer":
                return self.writer
            case "store":
                return self.host.store
            case "previous":
                return self.previous
            case "error":
                return self.task.error
        raise AssertionError(f"compile() lets no function ask for {name!r}")
