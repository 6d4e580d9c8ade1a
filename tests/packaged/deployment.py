"""Deploys the built template with the SAM command line, as a user would."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from provenloop.entry.local.template import load_template
from tests.packaged.emulator import PYTHON, ROOT
from tests.packaged.routes import import_routes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.packaged.emulator import Emulator

SAM = ROOT / ".venv-sam" / "bin" / "sam"
BUILT = ROOT / ".aws-sam" / "build" / "template.yaml"
STACK = "provenloop"
BUCKET = "provenloop-artifacts"
POLICY = "/provenloop/policy"
#: Who may send events without HTTP; the first also on the bus.
SOURCES = [
    {"name": "shop.orders", "tenant": "default", "memories": "orders-*", "kind": "agent", "label": "order desk"},
    {"name": "till", "tenant": "default", "memories": "till"},
]
#: How long a review waits for a decision before it reminds, and then before it ends.
WAIT_S = 6


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployed stack. ``outputs`` and ``resources`` (physical ids) go by the template's names."""

    emulator: Emulator
    base_url: str
    token: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]

    def http(self, *, token: str | None = None) -> httpx.Client:
        """A client of the API; without a token nobody."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.base_url, headers=headers, timeout=60)

    def aws(self, service: str) -> Any:
        """A boto3 client with all rights."""
        return self.emulator.client(service)

    def rule(self, policy: Mapping[str, Any], function: str) -> None:
        """Put a policy in force for one function at once: of another size it starts anew, and reads it."""
        self.aws("ssm").put_parameter(Name=POLICY, Type="String", Value=json.dumps(policy), Overwrite=True)
        functions, name = self.aws("lambda"), self.resources[function]
        size = functions.get_function_configuration(FunctionName=name)["MemorySize"]
        functions.update_function_configuration(FunctionName=name, MemorySize=size + 1)


def deploy(emulator: Emulator, parameters: Mapping[str, str] | None = None) -> Deployment:
    """Deploy what `sam build` left into an empty emulator.

    Args:
        parameters: of the template, besides those that every deployment is given.

    Raises:
        RuntimeError: nothing was built, it was built for another Python, or the deployment failed.
    """
    runtime = _built_runtime()
    emulator.client("s3").create_bucket(Bucket=BUCKET)
    emulator.client("ssm").put_parameter(Name=POLICY, Type="String", Value="{}")
    _run_sam(emulator, runtime, parameters or {})
    cloudformation = emulator.client("cloudformation")
    (stack,) = cloudformation.describe_stacks(StackName=STACK)["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    found = cloudformation.describe_stack_resources(StackName=STACK)["StackResources"]
    secret = emulator.client("secretsmanager").get_secret_value(SecretId=outputs["BootstrapSecretArn"])
    api_id = import_routes(emulator, STACK)
    return Deployment(
        emulator=emulator,
        base_url=f"{emulator.endpoint}/_aws/execute-api/{api_id}/$default",
        token=secret["SecretString"],
        outputs=outputs,
        resources={each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found},
    )


def _built_runtime() -> str:
    """The runtime that the layers were built for; the emulator runs functions on its own Python, so it must be that."""
    if not BUILT.exists():
        raise RuntimeError(f"{BUILT.relative_to(ROOT)} is missing: `make build` makes it")
    runtime: str = load_template(BUILT)["Resources"]["DependenciesLayer"]["Metadata"]["BuildMethod"]
    version = "import sys; print('python%d.%d' % sys.version_info[:2])"
    own = subprocess.run([PYTHON, "-c", version], check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603
    if own != runtime:
        raise RuntimeError(f"built for {runtime}, but the emulator runs functions on {own}: `make clean` and again")
    return runtime


def _run_sam(emulator: Emulator, runtime: str, more: Mapping[str, str]) -> None:
    parameters = {
        "Runtime": runtime,
        "PolicyParameter": POLICY,
        "RemindAfterSeconds": WAIT_S,
        "ExpireAfterSeconds": WAIT_S,
        "InboundSources": json.dumps(SOURCES),
        "BusSource1": "shop.orders",
        **more,
    }
    command = [
        str(SAM), "deploy",
        "--template-file", str(BUILT),
        "--config-env", "emulator",
        "--stack-name", STACK,
        "--s3-bucket", BUCKET,
        "--capabilities", "CAPABILITY_IAM",
        "--no-confirm-changeset",
        "--no-progressbar",
        "--parameter-overrides", *(f"{name}={json.dumps(str(value))}" for name, value in parameters.items()),
    ]  # fmt: skip
    variables = {**emulator.environment, "SAM_CLI_TELEMETRY": "0"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"sam deploy failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
