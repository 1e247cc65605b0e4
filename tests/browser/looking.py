"""What the tests of the pages share: who signs in, and what axe-core finds on a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = (Path(__file__).parents[1] / "vendor" / "axe.min.js").read_text(encoding="utf-8")
PASSWORD = "correct horse battery"


def accessible(page: Page, *, all_of_them: bool = False, rules: Sequence[str] = ()) -> list[str]:
    """The serious and critical violations that axe-core finds, or all of them; of all its rules, or of some."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {AXE} }}")
    options = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    found: dict[str, Any] = page.evaluate("options => axe.run(options)", options)
    bad = [v for v in found["violations"] if all_of_them or v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {[n['html'] for n in v['nodes']][:3]}" for v in bad]
