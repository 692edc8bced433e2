"""The groups of rows: which programs are compared, what they must reach, and what they should."""

from bench.cases import Case
from bench.groups.asking import approval_rows, inbox_rows, question_rows, waiting_rows
from bench.groups.running import (
    channels_rows,
    compile_rows,
    invoke_rows,
    nested_rows,
    send_rows,
    sequence_rows,
    stream_rows,
)
from bench.groups.storing import read_rows, saver_rows, store_rows, task_rows, value_rows
from bench.groups.talking import history_rows

GROUPS: dict[str, list[Case]] = {
    "compile": compile_rows(),
    "invoke": invoke_rows(),
    "sequence": sequence_rows(),
    "send": send_rows(),
    "channels": channels_rows(),
    "saver": saver_rows(),
    "value": value_rows(),
    "stream": stream_rows(),
    "nested": nested_rows(),
    "task": task_rows(),
    "question": question_rows(),
    "approval": approval_rows(),
    "waiting": waiting_rows(),
    "inbox": inbox_rows(),
    "history": history_rows(),
    "read": read_rows(),
    "store": store_rows(),
}
"""By name; the groups `import`, `counts` and `agent` are measured apart."""
