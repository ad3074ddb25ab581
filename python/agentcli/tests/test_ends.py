"""How it ends when the program is missing, dies, talks nonsense or is closed."""

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
from desk import HOUSE, Desk, call, children_of, say, working_in


def fake(tmp_path: Path, text: str) -> ClientConfig:
    """A program in place of agentcli, as a Python script with this text."""
    script = tmp_path / "program.py"
    script.write_text(f"import json, os, sys, time\n{text}")
    return ClientConfig(launch_args_override=(sys.executable, "-u", str(script)))


GREET = """
def send(**message): print(json.dumps(message), flush=True)
hello = json.loads(sys.stdin.readline())
send(id=hello["id"], result=dict(userAgent="x", agentHome="/h", platformFamily="unix", platformOs="linux"))
sys.stdin.readline()
"""


def test_a_program_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="nowhere"):
        Client(ClientConfig(agent_bin=tmp_path / "nowhere"))
    with pytest.raises(LaunchError, match="nowhere.cjs"):
        Client(ClientConfig(agent_bin=tmp_path / "nowhere.cjs"))
    with pytest.raises(LaunchError, match="not on PATH"):
        Client(ClientConfig(env={"PATH": str(tmp_path)}))


def test_a_program_that_may_not_be_executed_is_reported(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    with pytest.raises(LaunchError, match="Permission denied"):
        Client(ClientConfig(agent_bin=plain))


def test_the_program_on_the_path_is_used(desk: Desk) -> None:
    desk.answers(say("Done."))
    link = desk.root / "bin" / "agentcli"
    link.parent.mkdir()
    link.write_text(f'#!/bin/sh\nexec node "{HOUSE}/packages/cli/bin/agentcli.cjs" "$@"\n')
    link.chmod(link.stat().st_mode | stat.S_IEXEC)
    env = {"PATH": f"{link.parent}{os.pathsep}{os.environ['PATH']}", "AGENT_HOME": str(desk.home)}
    with Client(ClientConfig(env=env, cwd=desk.repository)) as client:
        assert client.metadata.agent_home == str(desk.home)
        assert client.thread_start().run("work").final_response == "Done."


def test_a_program_that_ends_at_once_is_reported_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(TransportClosedError, match="the disk is on fire") as raised:
        Client(fake(tmp_path, "sys.exit('the disk is on fire')"))
    assert (raised.value.exit_code, raised.value.signal) == (1, None)
    assert raised.value.stderr_tail == "the disk is on fire\n"


def test_a_program_that_never_answers_is_given_up(tmp_path: Path) -> None:
    silent = fake(tmp_path, "sys.stdin.read()")
    config = ClientConfig(launch_args_override=silent.launch_args_override, start_timeout_s=0.2)
    with pytest.raises(LaunchError, match="did not answer"):
        Client(config)
    assert not working_children()


def test_a_program_that_talks_nonsense_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TransportClosedError, match="no message.*Hello"):
        Client(fake(tmp_path, "print('Hello', flush=True); time.sleep(1000)"))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_program_that_dies_in_mid_turn_is_an_error_that_says_so(desk: Desk, how: signal.Signals) -> None:
    desk.answers(call("exec_command", cmd="sleep 1000"), say("Done."))
    with desk.client() as client:
        turn = client.thread_start().turn("wait")
        with pytest.raises(TransportClosedError, match=how.name) as raised:
            for notification in turn.stream():
                payload = notification.payload
                if isinstance(payload, ItemStarted) and isinstance(payload.item, CommandExecutionItem):
                    os.kill(program_pid(), how)
        assert (raised.value.signal, raised.value.exit_code) == (how.name, None)
        with pytest.raises(ClientError, match=how.name):
            client.models()
    while working_in(desk.repository):
        time.sleep(0.02)


def test_closing_ends_the_program_its_turns_and_their_commands(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="sleep 1000"), say("Done."))
    client = desk.client()
    turn = client.thread_start().turn("wait")
    pid = program_pid()
    while not [notification for notification in [next(turn.stream())] if notification.method == "item/started"]:
        pass
    client.close()
    client.close()
    assert not os.path.exists(f"/proc/{pid}")
    while working_in(desk.repository):
        time.sleep(0.02)
    # Whichever comes first: the turn's own end, or that of the connection.
    with contextlib.suppress(TransportClosedError):
        assert turn.run().status == "interrupted"
    with pytest.raises(ClientError, match="closed"):
        client.models()


def test_a_program_that_stays_when_it_is_closed_is_made_to_go(tmp_path: Path) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    client = Client(fake(tmp_path, GREET + deaf))
    client.close()
    assert not working_children()


def test_nothing_is_lost_when_the_turn_speaks_before_it_is_answered(tmp_path: Path) -> None:
    early = """
thread = dict(id="t", preview="", ephemeral=False, modelProvider="p", createdAt=1, updatedAt=1, status=dict(type="idle"),
              cwd="/", cliVersion="1", turns=[])
ask = json.loads(sys.stdin.readline())
send(id=ask["id"], result=dict(thread=thread, model="m", modelProvider="p", cwd="/", approvalPolicy="never", sandbox={}))
ask = json.loads(sys.stdin.readline())
send(method="turn/started", params=dict(threadId="t", turn=dict(id="u", items=[], status="inProgress")))
item = dict(type="agentMessage", id="i", text="Hi.", unheardOf=1)
send(method="item/completed", params=dict(threadId="t", turnId="u", item=item))
send(method="item/completed", params=dict(threadId="t", turnId="u", item=dict(type="novel", id="j", more=[1])))
send(method="something/novel", params=dict(turnId="u"))
send(method="turn/completed", params=dict(threadId="other", turn=dict(id="v", items=[], status="completed")))
send(id=ask["id"], result=dict(turn=dict(id="u", items=[], status="inProgress")))
send(method="turn/completed", params=dict(threadId="t", turn=dict(id="u", items=[], status="completed")))
sys.stdin.read()
"""
    with Client(fake(tmp_path, GREET + early)) as client:
        result = client.thread_start().run("work")
    assert result.final_response == "Hi."
    assert [item.type for item in result.items] == ["agentMessage", "novel"]


def test_the_program_ends_when_this_process_is_killed(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="sleep 1000"), say("Done."))
    code = f"""
from agentcli import Client, ClientConfig
config = ClientConfig(agent_bin={str(HOUSE / "packages/cli/bin/agentcli.cjs")!r}, cwd={str(desk.repository)!r},
                      env=dict(AGENT_HOME={str(desk.home)!r}))
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
    while working_in(desk.repository):
        time.sleep(0.02)


def working_children() -> list[int]:
    """Children of ours that are neither gone nor the scripted model."""
    return [pid for pid in children_of(os.getpid()) if "model-server" not in Path(f"/proc/{pid}/cmdline").read_text()]


def program_pid() -> int:
    [pid] = [pid for pid in working_children() if "app-server" in Path(f"/proc/{pid}/cmdline").read_text()]
    return pid
