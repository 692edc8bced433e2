"""Where lines touch the blocks they lead to and come from."""

from collections.abc import Iterable, Mapping

from signoff.graph.drawing.blocks import Block, Grid, Web
from signoff.graph.drawing.fitting import fit_between, spread

__all__ = ["dock_lower", "dock_upper"]


def dock_upper(web: Web, links: Iterable[int], columns: list[int], grid: Grid) -> dict[int, int]:
    """The columns in which links leave their upper blocks."""
    aims = {at: columns[web.links[at].lower] + (web.links[at].lower_at or 0) for at in links}
    touched = {at: (web.links[at].upper, web.links[at].upper_at) for at in aims}
    return _dock(touched, aims, web, columns, grid)


def dock_lower(web: Web, uppers: Mapping[int, int], columns: list[int], grid: Grid) -> dict[int, int]:
    """The columns in which links reach their lower blocks, given where they leave the upper ones."""
    touched = {at: (web.links[at].lower, web.links[at].lower_at) for at in uppers}
    return _dock(touched, uppers, web, columns, grid)


def _dock(
    touched: Mapping[int, tuple[int, int | None]],
    aims: Mapping[int, int],
    web: Web,
    columns: list[int],
    grid: Grid,
) -> dict[int, int]:
    """The column of each link at the block it touches, given the column at its other end."""
    result = {link: columns[block] + (at or 0) for link, (block, at) in touched.items()}
    free: dict[int, list[int]] = {}
    for link, (block, at) in touched.items():
        if at is None:
            free.setdefault(block, []).append(link)
    for block, links in free.items():
        links.sort(key=lambda link: (aims[link], link))
        side = _side(web.blocks[block], columns[block], [aims[link] for link in links], grid)
        result.update(zip(links, side, strict=True))
    return result


def _side(block: Block, anchor: int, aims: list[int], grid: Grid) -> list[int]:
    """Where lines with these aims touch a box: straight if they can, else with an equal share of the side."""
    low = anchor - block.left + grid.inset
    high = anchor + block.right - block.loop - 1 - grid.inset
    straight = [low <= aim <= high for aim in aims]
    shares = spread(len(aims), low, high)
    wanted = [aim if can else share for aim, share, can in zip(aims, shares, straight, strict=True)]
    weights = [1000.0 if can else 1.0 for can in straight]
    return fit_between(wanted, weights, grid.port, low, high)
