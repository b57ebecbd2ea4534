"""Progress bars, in notebooks as widgets."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from ._errors import one_line
from ._shapes import Object

#: The steps of a bar that shows a share.
WHOLE = 1000

#: The most characters of a title.
LONGEST_TITLE = 80


def is_in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _kind(notebook: bool) -> Any:
    if notebook and find_spec("ipywidgets"):
        from tqdm.notebook import tqdm  # noqa: PLC0415 - it needs ipywidgets

        return tqdm
    from tqdm.std import tqdm as plain  # noqa: PLC0415 - only one of both is needed

    return plain


class Bar:
    """A bar that follows the objects of the program."""

    def __init__(self, title: str, shown: bool | None) -> None:
        notebook = is_in_notebook()
        if shown is None:
            shown = notebook or sys.stderr.isatty()
        self._bar: Any = _kind(notebook)(
            total=0,
            desc=one_line(title)[:LONGEST_TITLE],
            disable=not shown,
            unit="trial",
            leave=False,
        )

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.close()

    def take(self, said: Object) -> None:
        """Shows an object of the program."""
        if said["kind"] != "progress":
            return
        if "total" in said:
            self.set(said["done"], said["total"])
        else:
            self._bar.set_postfix_str(f"{said['settings']} settings", refresh=False)
            self.set(round(WHOLE * min(said["part"], 1)), WHOLE)

    def set(self, done: int, total: int) -> None:
        """Shows that `done` of `total` trials are there."""
        self._bar.total = total
        self._bar.n = done
        self._bar.refresh()
