"""The command line against the whole local stack, over HTTP on this machine."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import typer.main

from provenloop.cli import access_commands
from provenloop.cli.app import app
from provenloop.client import Options
from provenloop.entry.operations import OPERATIONS, NoCommand
from tests.faulty_service import Fault, FaultyServer
from tests.functions.api import CALLS, Api
from tests.functions.command_line import CommandLine
from tests.functions.requests import ADMIN, NOW, ROOT

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BECAUSE = ("--because", "seen in the logs")
HOSTILE = "\x1b[2J\x9b31m[bold]mark[/bold]\u202egnp.exe\nnext"
#: Commands that are no operation: they call others, or none.
OF_THEIR_OWN = {"demo", "dev", "reflect", "dismiss", "hook print"}


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, service: FaultyServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> CommandLine:
    for name in ("POWERTOOLS_METRICS_DISABLED", "POWERTOOLS_LOG_LEVEL"):
        monkeypatch.setenv(name, "true" if "METRICS" in name else "CRITICAL")
    return CommandLine(service.url, capsys, str(tmp_path), Options(sleep=lambda _: None))


def commands() -> dict[str, Any]:
    """Every command by its words."""
    found: dict[str, Any] = {}
    for name, each in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(each, "commands", None)
        found |= {name: each} if inner is None else {f"{name} {verb}": one for verb, one in inner.items()}
    return found


def test_every_operation_is_a_command_or_says_why_it_is_none() -> None:
    named = {word for each in OPERATIONS if not isinstance(each.cli, NoCommand) for word in each.cli.split(", ")}
    assert named == set(commands()) - OF_THEIR_OWN
    assert all(len(each.cli.because) > 20 for each in OPERATIONS if isinstance(each.cli, NoCommand))


def test_every_command_is_listed_with_its_help_and_options_and_no_other() -> None:
    page = (ROOT / "shared" / "CLI.md").read_text(encoding="utf-8").partition("\n## Commands\n")[2]
    rows = re.findall(r"^\| `([a-z][^`]*)` \| (.+) \| (.*) \|$", page, re.MULTILINE)
    everywhere = {"--url", "--token", "--memory", "--json", "--help"}
    expected = []
    for words, each in commands().items():
        arguments = "".join(f" {one.metavar}" for one in each.params if one.param_type_name == "argument")
        options = [one.opts[0] for one in each.params if one.param_type_name == "option"]
        listed = " ".join(f"`{name}`" for name in options if name not in everywhere)
        expected.append((f"{words}{arguments}", " ".join(each.help.split()).rstrip("."), listed))
    assert rows == expected, "\n".join(f"| `{a}` | {b} | {c} |" for a, b, c in expected)


@pytest.mark.parametrize("words", [*commands(), "", "audit", "token", "retention"])
def test_every_command_has_a_help_that_explains_each_of_its_options(words: str, cli: CommandLine) -> None:
    assert cli(*words.split(), "--help") == 0
    assert "Usage: provenloop" in cli.out
    if words in commands():
        for parameter in commands()[words].params:
            assert parameter.help, parameter.name


def test_a_day_at_the_terminal_is_found_decided_applied_and_undone(cli: CommandLine, api: Api) -> None:
    api.find()
    queue = cli.json("list")
    assert queue == api.done("list_recommendations")
    first, second = (row["id"] for row in queue["recommendations"])
    assert cli.json("show", first) == api.done("show_recommendation", {"memory": "support", "id": first})
    assert cli.json("approve", first[:8], *BECAUSE)["status"] == "approved"
    assert cli.json("apply", first, *BECAUSE)["status"] == "applied"
    assert cli.json("rollback", first, *BECAUSE)["status"] == "rolled_back"
    assert cli.json("snooze", second, *BECAUSE, "--until", str(NOW + 86_400_000))["status"] == "snoozed"
    assert cli.json("wake", second, *BECAUSE)["status"] == "pending"
    assert cli.json("dismiss", second, *BECAUSE)["status"] == "rejected"
    assert cli.json("audit", "verify")["ok"] is True
    assert cli("audit", "export") == 0
    assert cli.out.splitlines() == [json.dumps(json.loads(line)) for line in api.call("export_audit").text.splitlines()]


def test_applying_what_is_pending_approves_it_as_well(cli: CommandLine, api: Api) -> None:
    first = api.find()[0]["id"]
    assert cli.json("apply", first, *BECAUSE)["status"] == "applied"
    entries = api.done("show_recommendation", {"memory": "support", "id": first})["audit"]
    assert [entry["to"] for entry in entries][-2:] == ["approved", "applied"]


def test_whoever_may_only_apply_cannot_approve_by_it(cli: CommandLine, api: Api) -> None:
    first = api.find()[0]["id"]
    applier = api.mint("applier", "read", "apply", kind="human")
    assert cli.refused("apply", first, *BECAUSE, token=applier)["code"] == "PVL-E022"


@pytest.mark.parametrize(
    "words",
    [
        "health", "run", "reflect", "list", "outcomes", "analyzers", "policy", "lessons", "rules", "recipes", "ledger",
        "ledger --rows", "audit verify", "audit verify --tenant", "retention list", "token list", "run --min-new 5",
        "rules --status all", "list --status all --severity high --limit 5", "init",
    ],
)  # fmt: skip
def test_a_reply_is_printed_for_people_and_as_it_is(cli: CommandLine, api: Api, words: str) -> None:
    api.find()
    assert cli(*words.split()) == 0
    assert cli.out.strip()
    assert cli.err == ""
    assert isinstance(cli.json(*words.split()), dict)


def test_called_alone_it_tells_how_the_loop_is(cli: CommandLine, api: Api) -> None:
    assert cli.json() == api.done("loop_health")
    assert cli.json("--memory", "support", memory=None)["seq"] == 0
    assert cli.json(memory=None, token=None) == api.done("health", {})


def test_a_quiet_pass_prints_nothing(cli: CommandLine) -> None:
    assert (cli("run", "--quiet"), cli.out, cli.err) == (0, "", "")


def test_options_may_stand_before_and_behind_a_command_and_win_over_the_environment(cli: CommandLine) -> None:
    assert cli.refused("--memory", "nowhere", "list")["code"] == "PVL-E040"
    assert cli.refused("list", "--memory", "nowhere")["code"] == "PVL-E040"
    assert cli("--memory", "nowhere", "--json", "list", "--memory", "support") == 0
    assert cli("audit", "verify", "--token", "wrong") == 1


def test_a_gate_is_exit_code_two_and_looks_at_everything_that_is_pending(cli: CommandLine, api: Api) -> None:
    assert cli("list", "--fail-on", "info") == 0
    found = {row["severity"] for row in api.find()}
    order = ["info", "low", "medium", "high"]
    highest = max(found, key=order.index)
    for severity in order:
        expected = 2 if order.index(severity) <= order.index(highest) else 0
        assert cli("list", "--fail-on", severity) == expected
    assert cli("list", "--status", "rejected", "--analyzer", "loop.staleness", "--limit", "1", "--fail-on", "info") == 2
    assert cli("list", "--fail-on", "info", "--json") == 2
    assert json.loads(cli.out) == api.done("list_recommendations")


@pytest.mark.parametrize(
    ("words", "code", "field"),
    [
        ("list --severity urgent", "PVL-E011", "severity"),
        ("list --status waiting", "PVL-E011", "status"),
        ("list --analyzer nobody", "PVL-E011", "analyzer"),
        ("list --fail-on urgent", "PVL-E011", "fail_on"),
        ("list --limit 1000", "PVL-E011", "limit"),
        ("approve nobody --because so", "PVL-E040", "id"),
        ("approve nobody", "PVL-E011", "because"),
        ("snooze nobody --because so --until soon", "PVL-E011", "until"),
        ("rules --status broken", "PVL-E011", "status"),
        ("token create x --scope everything", "PVL-E011", "scopes[0]"),
        ("token revoke nobody", "PVL-E040", "id"),
        ("retention set --days -1", "PVL-E031", "parameters.max_age_days"),
        ("retention set --days 30 --kind thing", "PVL-E031", "parameters.grain_type"),
        ("ledger --since yesterday", "PVL-E011", "from"),
        ("init --template lavish", "PVL-E011", "template"),
        ("audit export --since 2020", "PVL-E011", "since"),
    ],
)
def test_a_wrong_value_is_an_error_with_the_services_code(cli: CommandLine, words: str, code: str, field: str) -> None:
    problem = cli.refused(*words.split())
    assert (problem["code"], problem["field"]) == (code, field)
    assert cli(*words.split()) == 1
    assert code in cli.err
    assert cli.err.count("\n") == 1


@pytest.mark.parametrize("words", ["explode", "audit", "audit burn", "list --colour red", "show", "run --min-new many"])
def test_what_is_no_command_is_an_error_and_no_gate(cli: CommandLine, words: str) -> None:
    assert cli(*words.split()) == 1
    assert cli.out == "" or words == "audit"


def test_what_is_not_set_is_said(cli: CommandLine) -> None:
    assert cli.refused("list", memory=None)["field"] == "memory"
    cli.url = ""
    assert "PROVENLOOP_URL" in cli.refused("list")["detail"]
    cli.url = "http://provenloop.example"
    assert cli.refused("list")["field"] == "url"


def test_a_service_that_is_not_there_is_an_error(cli: CommandLine, service: FaultyServer) -> None:
    service.faults += [Fault()] * 4
    assert cli.refused("list")["code"] == "PVL-E001"
    cli.url = "http://127.0.0.1:9"
    assert cli.refused("list")["code"] == "unreachable"


def test_nothing_from_outside_reaches_the_terminal_as_it_is(cli: CommandLine, api: Api) -> None:
    calls = [{**call, "result": HOSTILE} if call["is_error"] else call for call in CALLS]
    api.done("record_events", body={"events": calls})
    api.done("run_pass")
    [found] = api.done("list_recommendations")["recommendations"]
    for words in (("list",), ("show", found["id"]), ("outcomes",)):
        assert cli(*words) == 0
        assert not set("\x1b\x9b\u202e") & set(cli.out)
    assert cli("show", found["id"]) == 0
    assert "[bold]mark[/bold]" in cli.out
    assert cli("show", found["id"], "--json") == 0
    assert cli.out.isascii()
    assert cli.out.count("\n") == 1


def test_retention_sets_parameters_and_deletes_nothing(cli: CommandLine, api: Api) -> None:
    api.find()
    before = api.done("loop_health")["seq"]
    changed = cli.json("retention", "set", "--days", "30", "--kind", "observation", "--batch", "5", *BECAUSE)
    [sweep] = [each for each in changed["analyzers"] if each["id"].startswith(access_commands.RETENTION)]
    assert sweep["enabled"] is True
    assert sweep["effective"] == {"max_age_days": 30, "grain_type": "observation", "max_grains": 5}
    assert cli.json("retention", "list") == api.done("list_analyzers")
    [sweep] = [
        each for each in cli.json("retention", "clear")["analyzers"] if each["id"].startswith(access_commands.RETENTION)
    ]
    assert (sweep["enabled"], sweep["effective"]["max_age_days"]) == (False, 0)
    assert api.done("loop_health")["seq"] == before


def test_a_token_is_shown_once_and_works_until_it_is_revoked(cli: CommandLine) -> None:
    minted = cli.json("token", "create", "ci", "--scope", "read", "--scope", "write", "--kind", "service")
    assert cli("list", token=minted["secret"]) == 0
    assert cli("token", "list") == 0
    assert "ci" in cli.out
    assert minted["secret"] not in cli.out
    assert cli.json("token", "revoke", minted["id"])["descendants"] == []
    assert cli.refused("approve", "x", *BECAUSE, token=minted["secret"])["status"] == 401


def test_init_makes_the_memory_and_plants_something_to_find(cli: CommandLine, api: Api) -> None:
    assert cli("init", "--template", "demo", "--ns", "shop", memory="first") == 0
    found = api.done("list_recommendations", {"memory": "first"})["recommendations"]
    assert sorted(row["analyzer"] for row in found) == [
        "loop.contradiction_sweep/1", "loop.duplicate_sweep/1", "loop.staleness/1",
    ]  # fmt: skip
    assert {row["namespace"] for row in found} == {"shop"}
    assert "3 findings" in cli.out
    assert cli("init", "--template", "demo", "--ns", "shop", memory="first") == 0
    assert len(api.done("list_recommendations", {"memory": "first"})["recommendations"]) == 3


def test_settings_are_kept_when_asked_for_and_for_their_owner_alone(cli: CommandLine) -> None:
    assert cli("init") == 0
    assert list(Path(cli.home).rglob("*")) == []
    assert cli("init", "--save") == 0
    [file] = Path(cli.home).rglob("settings.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ADMIN not in cli.out + cli.err
    cli.environment = {"PROVENLOOP_URL": "", "PROVENLOOP_TOKEN": "", "PROVENLOOP_MEMORY": ""}
    assert cli("list") == 0
    assert cli.refused("list", "--memory", "nowhere")["code"] == "PVL-E040"


@pytest.mark.parametrize(("rights", "text"), [(0o644, "{}"), (0o600, "["), (0o600, "[]"), (0o600, '"x"')])
def test_a_settings_file_that_others_may_read_or_nobody_can_is_refused(
    cli: CommandLine, rights: int, text: str
) -> None:
    file = Path(cli.home) / ".config" / "provenloop" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    file.chmod(rights)
    assert cli("list") == 0
    assert cli.refused("list", memory=None)["code"] == "misused"


def test_without_a_clone_demo_and_dev_say_what_they_need(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("provenloop.entry.local.__main__.find_root", lambda: None)
    assert (cli("demo"), cli.err.count("clone")) == (1, 1)
    assert (cli("dev"), cli.err.count("clone")) == (1, 1)


def test_the_installed_program_has_a_version_and_completions() -> None:
    program = Path(sys.executable).with_name("provenloop")
    environment = {
        "_PROVENLOOP_COMPLETE": "complete_bash",
        "COMP_WORDS": "provenloop rol",
        "COMP_CWORD": "1",
    }
    ran = subprocess.run([program], capture_output=True, text=True, env=environment, check=False)  # noqa: S603
    assert ran.stdout.split() == ["rollback"]
    ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)  # noqa: S603
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", ran.stdout)


def test_starting_loads_nothing_of_aws_and_no_table_before_it_is_needed() -> None:
    code = "import sys, provenloop.cli.app; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not {"boto3", "pydantic", "httpx", "rich.console", "provenloop.services"} & set(ran.stdout.split())


def test_on_a_terminal_init_asks_for_what_is_not_set_and_shows_no_token(service: FaultyServer, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen(  # noqa: S603 - our own program
        [Path(sys.executable).with_name("provenloop"), "init", "--save"],
        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env={"HOME": str(tmp_path)}, start_new_session=True,
    ) as ran:  # fmt: skip
        os.close(theirs)
        late = threading.Timer(60, ran.kill)
        late.start()
        screen = ""
        # A blank behind the colon says that typing is hidden from then on.
        for asked, typed in (("service:", service.url), ("token: ", ADMIN), ("memory:", "first")):
            while not screen.endswith(asked):
                screen += os.read(ours, 1024).decode()
            os.write(ours, f"{typed}\n".encode())
        assert ran.wait(timeout=60) == 0
        late.cancel()
        assert ran.stdout is not None
        told = ran.stdout.read().decode()
    assert "The memory first is there." in told
    assert ADMIN not in screen + told
    [file] = tmp_path.rglob("settings.json")
    assert json.loads(file.read_text()) == {"url": service.url, "token": ADMIN, "memory": "first"}
    os.close(ours)
