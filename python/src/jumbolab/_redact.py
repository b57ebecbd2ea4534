"""Secrets of storage: they never stand in an error, a repr or a log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

HIDDEN = "***"

#: User and password of a URL, also of one inside of another (``simplecache::ftp://..``). A
#: password may have any character, so all up to the last ``@`` is hidden.
_USER = re.compile(r"(?<=://)(?:[^/@:\s]*:.*|[^/@\s]+)(?=@)", re.DOTALL)
_QUERY = re.compile(r"(?<=[?#]).+", re.DOTALL)

#: Options whose texts are no secrets but for what their own URL has.
_ADDRESSES = ("endpoint_url", "host")

#: A shorter secret is a part of too many words: nothing of the text is shown.
_SHORTEST = 4


def redacted(url: str) -> str:
    """A URL without its secrets; a path has none."""
    if "://" not in url:
        return url
    return _QUERY.sub(HIDDEN, _USER.sub(HIDDEN, url))


class Secrets:
    """What the URL and the options of a storage have that no text may show."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        found = {*_of_url(url), *_of_options(options)} - {""}
        variants = {
            form for one in found for form in (one, quote(one), quote(one, ""), unquote(one))
        }
        self._found = sorted(variants, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """The text without them."""
        for secret in self._found:
            if secret in text:
                if len(secret) < _SHORTEST:
                    return HIDDEN
                text = text.replace(secret, HIDDEN)
        return text


def _of_url(url: str) -> set[str]:
    if "://" not in url:
        return set()
    found = set()
    for user in _USER.findall(url):
        found |= {user, user.partition(":")[2]} if ":" in user else {user}
    for query in _QUERY.findall(url):
        values = (one.partition("=")[2] for one in re.split("[&#]", query))
        found |= {query, *values}
    return found


def _of_options(value: Any, name: str = "") -> set[str]:
    if isinstance(value, Mapping):
        return {text for key, one in value.items() for text in _of_options(one, str(key))}
    if isinstance(value, list | tuple | set | frozenset):
        return {text for one in value for text in _of_options(one, name)}
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    if not isinstance(value, str):
        return set()
    return _of_url(value) if name in _ADDRESSES else {value}
