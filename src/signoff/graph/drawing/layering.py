"""Layers: which row of the picture each thing stands in, by the longest way that leads to it."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence

__all__ = ["back_edges", "longest_path_layers"]


def back_edges(count: int, edges: Sequence[tuple[int, int]], roots: Iterable[int]) -> set[int]:
    """The indices of the edges that close a circle on a depth-first walk from the roots, in their order."""
    leaving: list[list[int]] = [[] for _ in range(count)]
    for index, (source, _) in enumerate(edges):
        leaving[source].append(index)
    closing: set[int] = set()
    seen: set[int] = set()
    for root in roots:
        if root not in seen:
            closing |= _walk(root, edges, leaving, seen)
    return closing


def _walk(root: int, edges: Sequence[tuple[int, int]], leaving: list[list[int]], seen: set[int]) -> set[int]:
    # A stack of our own: a chain of some thousand nodes must not end in a RecursionError.
    closing: set[int] = set()
    on_the_way = {root}
    seen.add(root)
    stack = [(root, iter(leaving[root]))]
    while stack:
        node, rest = stack[-1]
        index = next(rest, None)
        if index is None:
            on_the_way.discard(node)
            stack.pop()
        elif (target := edges[index][1]) in on_the_way:
            closing.add(index)
        elif target not in seen:
            seen.add(target)
            on_the_way.add(target)
            stack.append((target, iter(leaving[target])))
    return closing


def longest_path_layers(
    lowest: Sequence[int],
    edges: Sequence[tuple[int, int, int]],
    widths: Sequence[int],
    limit: int | None = None,
) -> list[int]:
    """A layer for each node: at least its `lowest`, and as far below its sources as each edge is long.

    The edges (source, target, length) must have no circle. With a limit, a layer that is full passes what
    comes next on to the layer below; what has no width is never in the way.
    """
    layers = list(lowest)
    used: Counter[int] = Counter()
    for node, leaving in _topological(len(lowest), edges):
        while limit and widths[node] and used[layers[node]] and used[layers[node]] + widths[node] > limit:
            layers[node] += 1
        used[layers[node]] += widths[node]
        for _, target, length in leaving:
            layers[target] = max(layers[target], layers[node] + length)
    return layers


def _topological(count: int, edges: Sequence[tuple[int, int, int]]) -> Iterable[tuple[int, list[tuple[int, int, int]]]]:
    """Each node with the edges that leave it, after all nodes that lead to it."""
    leaving: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    waiting = [0] * count
    for edge in edges:
        leaving[edge[0]].append(edge)
        waiting[edge[1]] += 1
    ready = deque(node for node in range(count) if not waiting[node])
    while ready:
        node = ready.popleft()
        yield node, leaving[node]
        for _, target, _ in leaving[node]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
