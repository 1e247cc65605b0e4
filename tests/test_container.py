"""Image, compose file and manifests agree with each other and with the command line, and give nothing away."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import discreet
from discreet.cli.application import app
from tests.image import steps

ROOT = Path(__file__).parents[1]
IMAGE = steps(ROOT / "Containerfile")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
CLUSTER = ROOT / "deploy" / "kubernetes"
USER = "10001"


def manifest(name: str) -> Any:
    return yaml.safe_load((CLUSTER / f"{name}.yaml").read_text())


def all_of(word: str) -> list[str]:
    """What follows every instruction of a kind."""
    return [rest for name, rest in IMAGE if name == word]


POD = manifest("deployment")["spec"]["template"]["spec"]
CONTAINER = POD["containers"][0]


@pytest.mark.parametrize(
    "words",
    [json.loads(all_of("CMD")[-1]), COMPOSE["services"]["server"]["command"], CONTAINER["args"]],
    ids=["image", "compose", "kubernetes"],
)
def test_the_command_is_one_of_ours(words: list[str]) -> None:
    """`discreet serve` with options that exist, on the cube's volume and on every address of the container."""
    assert words[:2] == ["serve", "/srv/cube"]
    known = {option for parameter in app.commands["serve"].params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
    assert words[words.index("--host") + 1] == "0.0.0.0"
    assert words[words.index("--port") + 1] == all_of("EXPOSE")[0] == "8000"


def test_nobody_is_root_and_nothing_is_writable() -> None:
    """One unprivileged user everywhere, the root file system read-only, no capability, memory for /tmp."""
    assert all_of("USER") == [f"{USER}:{USER}"]
    server = COMPOSE["services"]["server"]
    assert server["user"] == f"{USER}:{USER}"
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert any(place.startswith("/tmp:") for place in server["tmpfs"])
    assert all(volume.endswith(":ro") for volume in server["volumes"])
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["runAsUser"] == int(USER)
    assert POD["automountServiceAccountToken"] is False
    rights = CONTAINER["securityContext"]
    assert rights["readOnlyRootFilesystem"] is True
    assert rights["allowPrivilegeEscalation"] is False
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert {m["mountPath"] for m in CONTAINER["volumeMounts"] if not m.get("readOnly")} == {"/tmp"}
    variables = "\n".join(all_of("ENV"))
    assert "MPLCONFIGDIR=/tmp/" in variables
    assert "NUMBA_CACHE_DIR" not in variables  # it would hide what was compiled when the image was built
    assert all_of("RUN")[0].endswith("/opt/discreet/bin/discreet warm-up")


def test_volumes_are_where_the_image_has_them() -> None:
    """Cube and secrets are mounted at the image's volumes, and secrets so that they are not refused."""
    volumes = set(json.loads(all_of("VOLUME")[0]))
    assert volumes == {"/srv/cube", "/srv/store", "/run/discreet"}
    assert {m["mountPath"] for m in CONTAINER["volumeMounts"]} - {"/tmp"} <= volumes
    for volume in COMPOSE["services"]["server"]["volumes"]:
        target = volume.split(":")[1]
        assert any(target == place or target.startswith(f"{place}/") for place in volumes)
    secret = next(v["secret"] for v in POD["volumes"] if v["name"] == "secret")
    assert secret["defaultMode"] == 0o440


def test_two_servers_share_one_store_and_are_watched() -> None:
    """Two replicas, a store that is not a file of one of them, probes; health by the store, life without it."""
    assert COMPOSE["services"]["server"]["deploy"]["replicas"] == manifest("deployment")["spec"]["replicas"] == 2
    assert COMPOSE["services"]["server"]["environment"]["DISCREET_STORE"] == CONTAINER["env"][0]["value"]
    assert CONTAINER["env"][0]["value"].startswith("file:")
    assert CONTAINER["startupProbe"]["httpGet"]["path"] == CONTAINER["readinessProbe"]["httpGet"]["path"] == "/health"
    assert "httpGet" not in CONTAINER["livenessProbe"]
    assert "/health" in all_of("HEALTHCHECK")[0]
    assert manifest("disruption")["spec"]["minAvailable"] == 1
    grace = manifest("deployment")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace >= 25
    assert COMPOSE["services"]["server"]["stop_grace_period"] == f"{grace}s"


def test_the_manifests_select_what_they_make() -> None:
    """Labels agree, all files are listed, the tag is the version."""
    listed = manifest("kustomization")
    assert {p.name for p in CLUSTER.glob("*.yaml")} == {"kustomization.yaml", *listed["resources"]}
    label = {"app.kubernetes.io/name": "discreet"}
    spec = manifest("deployment")["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"] == label
    assert manifest("service")["spec"]["selector"] == label
    assert manifest("disruption")["spec"]["selector"]["matchLabels"] == label
    assert listed["images"] == [{"name": CONTAINER["image"], "newTag": discreet.__version__}]


def test_images_name_no_registry_and_files_no_secret() -> None:
    """Where images come from is the reader's choice; passwords and keys are files that are not here."""
    images = [rest.split()[0] for rest in all_of("FROM")] + [s["image"] for s in COMPOSE["services"].values()]
    assert not [image for image in images if "/" in image]
    text = (ROOT / "compose.yaml").read_text() + "".join(p.read_text() for p in CLUSTER.glob("*.yaml"))
    assert re.findall(r"^ *\w*(?:PASSWORD|SECRET|TOKEN|KEY)\w*: .*", text, re.M) == [
        "      POSTGRES_PASSWORD_FILE: /run/secrets/password"
    ]
    for name in (".containerignore", ".dockerignore"):
        assert (ROOT / name).read_text().split() == ["*", "!bundle/wheels"]


def test_the_proxy_of_compose_is_the_one_under_test() -> None:
    """It differs from deploy/nginx.conf, which the tests run, in where servers, certificates and logs are."""

    def rules(name: str) -> list[str]:
        moved = r"#|ssl_certificate|access_log|error_log|server \S+:\d+ "
        lines = (line.strip() for line in (ROOT / "deploy" / name).read_text().splitlines())
        return [line for line in lines if line and not re.match(moved, line)]

    assert rules("compose.nginx.conf") == rules("nginx.conf")
    assert "server server:8000 " in (ROOT / "deploy/compose.nginx.conf").read_text()
