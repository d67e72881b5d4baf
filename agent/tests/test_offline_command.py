"""`manage.py offline_model` serves until it is told to stop."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from agent.offline.server import OfflineModel

MANAGE = Path(settings.BASE_DIR) / "manage.py"


def test_it_says_where_it_listens_serves_and_ends_on_sigterm() -> None:
    command = [sys.executable, str(MANAGE), "offline_model", "--port", "0", "--first-token-ms", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = re.search(r"http://\S+", said)
        assert address, said
        body = {"model": "claude-sonnet-5-5", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]}
        headers = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
        answer = httpx2.post(f"{address.group()}/v1/messages", json=body, headers=headers)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=10)

    assert answer.status_code == 200
    assert process.returncode in {0, -signal.SIGTERM}


def test_a_port_in_use_is_said_in_one_sentence() -> None:
    with OfflineModel() as running:
        port = running.url.rsplit(":", 1)[1]
        with pytest.raises(CommandError, match=f"cannot listen on port {port}"):
            call_command("offline_model", port=int(port))


def test_a_malformed_speed_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFLINE_TOKENS_PER_SECOND", "fast")
    with pytest.raises(CommandError, match="OFFLINE_TOKENS_PER_SECOND is 'fast'"):
        call_command("offline_model", port=0)
