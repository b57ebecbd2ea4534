"""The figures of a page as figures of plotly."""

from __future__ import annotations

import base64
import binascii
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import JumbolabError
from ._files import LARGEST_PAGE, Folder
from ._shapes import WrongShape, read_json, short

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: The element of the page that has the figures: docs/reference/formats.md, "report.html".
BEGIN = b'<script id="plots" type="text/plain">'
END = b"</script>"

#: The most bytes of the unpacked figures. A page of 2 MB may have some of 2 GB.
LARGEST_FIGURES = 64 << 20


def of_page(page: Path) -> dict[str, go.Figure]:
    """The figures of a page by the ids of their elements."""
    with Folder(page.parent) as folder:
        content = folder.read(page.name, LARGEST_PAGE)
    _, found, rest = content.partition(BEGIN)
    packed, ended, _ = rest.partition(END)
    if not found or not ended:
        raise JumbolabError(
            f"{page} has no figures; write it anew with `jumbolab report`", file=str(page)
        )
    plots = read_json(_unpacked(packed, page), f"figures of {page}", _plots)
    try:
        return {name.removeprefix("plot-"): _figure(plot) for name, plot in plots.items()}
    except ValueError as error:
        raise JumbolabError(
            f"{page} has a figure that plotly rejects: {str(error).strip().partition(chr(10))[0]}",
            file=str(page),
        ) from error


def _unpacked(packed: bytes, page: Path) -> bytes:
    stream = zlib.decompressobj()
    try:
        figures = stream.decompress(base64.b64decode(packed), LARGEST_FIGURES + 1)
    except (binascii.Error, zlib.error) as error:
        raise JumbolabError(f"{page} has damaged figures: {error}", file=str(page)) from error
    if len(figures) > LARGEST_FIGURES:
        raise JumbolabError(
            f"{page} has figures of more than {LARGEST_FIGURES} bytes, the limit", file=str(page)
        )
    return figures


def _plots(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, list):
        raise WrongShape(f"{short(value)}: a list of [name, plot] is needed")
    for pair in value:
        match pair:
            case [str(), {"data": [*_], "layout": {}}]:
                pass
            case _:
                raise WrongShape(f"{short(pair)}: [name, plot with data and layout] is needed")
    return dict(value)


def chosen(figures: dict[str, go.Figure], name: str | None) -> go.Figure:
    """The figure of that name, or the first whose name has it as a part."""
    if not figures:
        raise JumbolabError("these results have no figure: no trial has a metric to draw")
    if name is None:
        return next(iter(figures.values()))
    if name in figures:
        return figures[name]
    for known, figure in figures.items():
        if name in known:
            return figure
    raise JumbolabError(f"no figure {name!r}; there are {', '.join(figures)}")


def _figure(plot: dict[str, Any]) -> go.Figure:
    import plotly.graph_objects as go  # noqa: PLC0415 - workers draw nothing

    return go.Figure({"data": plot["data"], "layout": plot["layout"]}, skip_invalid=True)
