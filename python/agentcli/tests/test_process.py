"""A program that is missing, dies, breaks the protocol or is closed."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentcli import (
    Client,
    ClientConfig,
    ClientError,
    CommandExecutionItem,
    ItemStarted,
    LaunchError,
    TransportClosedError,
)
from harness import REPOSITORY, Harness, call, children_of, message, processes_in


def fake_program(tmp_path: Path, text: str) -> ClientConfig:
    """A configuration that runs a Python script in place of agentcli."""
    script = tmp_path / "program.py"
    script.write_text(f"import json, os, sys, time\n{text}")
    return ClientConfig(launch_args_override=(sys.executable, "-u", str(script)))


INITIALIZE = """
def send(**message): print(json.dumps(message), flush=True)
hello = json.loads(sys.stdin.readline())
send(id=hello["id"], result=dict(userAgent="x", agentHome="/h", platformFamily="unix", platformOs="linux"))
sys.stdin.readline()
"""


def test_a_missing_program_is_a_launch_error(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="missing"):
        Client(ClientConfig(agent_bin=tmp_path / "missing"))
    with pytest.raises(LaunchError, match="missing.cjs"):
        Client(ClientConfig(agent_bin=tmp_path / "missing.cjs"))
    with pytest.raises(LaunchError, match="nor on PATH"):
        Client(ClientConfig(env={"PATH": str(tmp_path)}))


@pytest.mark.parametrize("path", [".", "", "tools:"])
def test_a_program_of_the_working_directory_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    for directory in (tmp_path, tmp_path / "tools"):
        directory.mkdir(exist_ok=True)
        for name in ("agentcli", "node"):
            (directory / name).write_text("#!/bin/sh\n")
            (directory / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LaunchError, match="nor on PATH"):
        Client(ClientConfig(env={"PATH": path}))
    (tmp_path / "program.cjs").touch()
    with pytest.raises(LaunchError, match="needs node"):
        Client(ClientConfig(agent_bin=tmp_path / "program.cjs", env={"PATH": path}))


def test_a_program_that_is_not_executable_is_a_launch_error(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    with pytest.raises(LaunchError, match="Permission denied"):
        Client(ClientConfig(agent_bin=plain))


def test_the_program_on_path_is_used(harness: Harness) -> None:
    harness.script(message("Done."))
    link = harness.root / "bin" / "agentcli"
    link.parent.mkdir()
    link.write_text(f'#!/bin/sh\nexec node "{REPOSITORY}/packages/cli/bin/agentcli.cjs" "$@"\n')
    link.chmod(link.stat().st_mode | stat.S_IEXEC)
    env = {"PATH": f"{link.parent}{os.pathsep}{os.environ['PATH']}", "AGENT_HOME": str(harness.home)}
    with Client(ClientConfig(env=env, cwd=harness.repository)) as client:
        assert client.metadata.agent_home == str(harness.home)
        assert client.thread_start().run("work").final_response == "Done."


def test_a_program_that_exits_at_once_is_reported_with_its_stderr(tmp_path: Path) -> None:
    with pytest.raises(TransportClosedError, match="the disk is on fire") as raised:
        Client(fake_program(tmp_path, "sys.exit('the disk is on fire')"))
    assert (raised.value.exit_code, raised.value.signal) == (1, None)
    assert raised.value.stderr_tail == "the disk is on fire\n"


def test_a_program_that_never_responds_times_out(tmp_path: Path) -> None:
    silent = fake_program(tmp_path, "sys.stdin.read()")
    config = ClientConfig(launch_args_override=silent.launch_args_override, start_timeout_s=0.2)
    with pytest.raises(LaunchError, match="did not respond"):
        Client(config)
    assert not running_children()


def test_a_program_that_does_not_write_json_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TransportClosedError, match="not a JSON message.*Hello"):
        Client(fake_program(tmp_path, "print('Hello', flush=True); time.sleep(1000)"))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_program_that_dies_during_a_turn_is_an_error_with_the_signal(harness: Harness, how: signal.Signals) -> None:
    harness.script(call("exec_command", cmd="sleep 1000"), message("Done."))
    with harness.client() as client:
        turn = client.thread_start().turn("wait")
        with pytest.raises(TransportClosedError, match=how.name) as raised:
            for notification in turn.stream():
                payload = notification.payload
                if isinstance(payload, ItemStarted) and isinstance(payload.item, CommandExecutionItem):
                    os.kill(server_pid(), how)
        assert (raised.value.signal, raised.value.exit_code) == (how.name, None)
        with pytest.raises(ClientError, match=how.name):
            client.models()
    while processes_in(harness.repository):
        time.sleep(0.02)


def test_closing_ends_the_program_its_turns_and_their_commands(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="sleep 1000"), message("Done."))
    client = harness.client()
    turn = client.thread_start().turn("wait")
    pid = server_pid()
    while not [notification for notification in [next(turn.stream())] if notification.method == "item/started"]:
        pass
    client.close()
    client.close()
    assert not os.path.exists(f"/proc/{pid}")
    while processes_in(harness.repository):
        time.sleep(0.02)
    # Either the end of the turn or the end of the connection comes first.
    with contextlib.suppress(TransportClosedError):
        assert turn.run().status == "interrupted"
    with pytest.raises(ClientError, match="closed"):
        client.models()


def test_a_program_that_ignores_sigterm_is_killed_on_close(tmp_path: Path) -> None:
    ignore_sigterm = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    client = Client(fake_program(tmp_path, INITIALIZE + ignore_sigterm))
    client.close()
    assert not running_children()


def test_notifications_before_the_response_to_turn_start_are_kept(tmp_path: Path) -> None:
    early = """
thread = dict(id="t", preview="", ephemeral=False, modelProvider="p", createdAt=1, updatedAt=1, status=dict(type="idle"),
              cwd="/", cliVersion="1", turns=[])
request = json.loads(sys.stdin.readline())
send(id=request["id"], result=dict(thread=thread, model="m", modelProvider="p", cwd="/", approvalPolicy="never", sandbox={}))
request = json.loads(sys.stdin.readline())
send(method="turn/started", params=dict(threadId="t", turn=dict(id="u", items=[], status="inProgress")))
item = dict(type="agentMessage", id="i", text="Hi.", unknownMember=1)
send(method="item/completed", params=dict(threadId="t", turnId="u", item=item))
send(method="item/completed", params=dict(threadId="t", turnId="u", item=dict(type="novel", id="j", more=[1])))
send(method="something/novel", params=dict(turnId="u"))
send(method="turn/completed", params=dict(threadId="other", turn=dict(id="v", items=[], status="completed")))
send(id=request["id"], result=dict(turn=dict(id="u", items=[], status="inProgress")))
send(method="turn/completed", params=dict(threadId="t", turn=dict(id="u", items=[], status="completed")))
sys.stdin.read()
"""
    with Client(fake_program(tmp_path, INITIALIZE + early)) as client:
        result = client.thread_start().run("work")
    assert result.final_response == "Hi."
    assert [item.type for item in result.items] == ["agentMessage", "novel"]


def test_the_program_ends_when_its_client_process_is_killed(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="sleep 1000"), message("Done."))
    code = f"""
from agentcli import Client, ClientConfig
config = ClientConfig(agent_bin={str(REPOSITORY / "packages/cli/bin/agentcli.cjs")!r}, cwd={str(harness.repository)!r},
                      env=dict(AGENT_HOME={str(harness.home)!r}))
turn = Client(config).thread_start().turn("wait")
for notification in turn.stream():
    print(notification.method, flush=True)
"""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    user = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)
    assert user.stdout is not None
    seen: list[str] = []
    while seen.count("item/started") < 2:
        seen.append(user.stdout.readline().strip())
    user.kill()
    user.wait()
    user.stdout.close()
    while processes_in(harness.repository):
        time.sleep(0.02)


def running_children() -> list[int]:
    """Running children of this process, without the scripted model."""
    return [pid for pid in children_of(os.getpid()) if "model-server" not in Path(f"/proc/{pid}/cmdline").read_text()]


def server_pid() -> int:
    [pid] = [pid for pid in running_children() if "app-server" in Path(f"/proc/{pid}/cmdline").read_text()]
    return pid
