"""Secrets of a storage: they stand in no error, no repr and no log."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import jumbolab
from jumbolab._redact import Secrets, redacted
from jumbolab._shard import Job

from .conftest import STUDY

PASSWORDS = [
    ("ftp://user:Tr0ub4dor@127.0.0.1:1/x", {}, "Tr0ub4dor"),
    ("ftp://user:p@s/s:w%20rd@127.0.0.1:1/x", {}, "p@s/s"),
    ("simplecache::ftp://user:Tr0ub4dor@127.0.0.1:1/x", {}, "Tr0ub4dor"),
    ("ftp://127.0.0.1:1/x", {"username": "u", "password": "Tr0ub4dor"}, "Tr0ub4dor"),
    ("nosuch://user:Tr0ub4dor@host/x?sig=Tr0ub4dor", {}, "Tr0ub4dor"),
    ("s3://b/x", {"client_kwargs": {"aws_session_token": "Tr0ub4dor"}, "nosuch": 1}, "Tr0ub4dor"),
]


@pytest.mark.parametrize("case", PASSWORDS, ids=[case[0][:14] for case in PASSWORDS])
def test_a_password_of_storage_is_in_no_error(
    case: tuple[str, dict[str, Any], str],
    client: Client,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    url, options, secret = case
    if url.startswith("s3"):
        options = {**options, "endpoint_url": f"http://user:{secret}@127.0.0.1:9"}
    with (
        caplog.at_level(logging.DEBUG, "jumbolab"),
        pytest.raises(jumbolab.JumbolabError) as error,
    ):
        jumbolab.sweep(
            STUDY, client=client, output=tmp_path / "r", storage=url, storage_options=options
        )
    assert secret not in str(error.value)
    assert secret not in "".join(traceback.format_exception(error.value))
    assert secret not in caplog.text


def test_a_password_is_in_no_repr_and_not_in_the_log_of_a_worker() -> None:
    url = "ftp://user:Tr0ub4dor@host/x"
    job = Job("a", None, (), "0", 1, "b", "v", url, {"password": "Tr0ub4dor"})
    assert "Tr0ub4dor" not in repr(job)
    assert redacted(url) == "ftp://***@host/x"
    assert redacted("s3://bucket/a@b") == "s3://bucket/a@b"
    assert redacted("https://host/x?sig=abc#d") == "https://host/x?***"
    assert redacted("/local/a:b@c?d") == "/local/a:b@c?d"


def test_a_secret_is_hidden_in_every_form() -> None:
    secrets = Secrets("ftp://u:a%2Fb%20c@h/x", {"headers": {"Authorization": "Bearer T/k=="}})
    for form in (
        "a%2Fb%20c",
        "a/b c",
        "Bearer T/k==",
        "Bearer%20T/k%3D%3D",
        "Bearer%20T%2Fk%3D%3D",
    ):
        assert form not in secrets.hide(f"x {form} y")
    assert secrets.hide("a rejected connection") == "a rejected connection"
    assert Secrets("x", {"key": "ab"}).hide("cab") == "***"


def test_options_that_are_no_json_are_not_repeated(tmp_path: Path) -> None:
    for text in ('{"password": "Tr0ub4dor"', '["Tr0ub4dor"]'):
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "jumbolab.sweep",
                STUDY,
                "--local",
                "1",
                "--storage-options",
                text,
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 2
        assert "Tr0ub4dor" not in ran.stderr
        assert "object of JSON" in ran.stderr
