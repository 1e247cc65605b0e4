"""How the policies that are served stand by the report of an attack: said at every start.

What holds on one data set need not on another: a synthetic population in tables of three variables gives small groups
away where three variables depend on each other in a way that no two show. Only an attack on the records at hand tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from discreet.base.verdicts import Verdict
from discreet.errors import InputError
from discreet.policy import Policy, read_policy
from discreet.policy.attacks.attack_report import Attack
from discreet.server.attack_result import read_attack_report
from discreet.server.counting.cube import read_cube
from discreet.server.editions.edition_history import history_of
from discreet.server.editions.edition_marks import EditionMarks, records_name
from discreet.server.settings import Settings

OTHER_RECORDS = "the records that are served: the report is of others, or does not say of which"
NEVER = (
    "no attack on these data with this policy is known, so that what all its answers give away together is unknown: "
    "run `discreet attack DATA --policy POLICY --json report.json` and start with --attack-report report.json"
)


def attack_standing(settings: Settings) -> Iterator[str]:
    """What is to be said of each policy of a server when it starts; raises ``InputError`` where an attack succeeded.

    Nothing is said of a policy that holds. One that publishes tables as they are says so itself.
    """
    reports = attack_reports(settings)
    for role, policy in _policies(settings).items():
        mine = [one for one in reports.values() if one.policy == policy.digest]
        words = "" if policy.publish else _standing(mine, settings) if mine else NEVER
        if words:
            yield words if role == "public" else f"policy of {role}: {words}"


def attack_reports(settings: Settings) -> dict[str, Attack]:
    """The reports that a server was given, by role, as they stand for the records that it serves.

    Of other records a report says nothing that can be relied on: what it does not fail is unknown.
    """
    reports = read_attack_report(settings.attack_report) if settings.attack_report else {}
    served = {policy.digest: policy for policy in _policies(settings).values()} if reports else {}
    found = {}
    for role, report in reports.items():
        policy = served.get(report.policy)
        same = policy is not None and report.records != "" and report.records == served_records(settings, policy)
        found[role] = report if same else replace(report, unjudged=(*report.unjudged, OTHER_RECORDS))
    return found


def _policies(settings: Settings) -> dict[str, Policy]:
    """The policies of everybody and of roles."""
    return {role: read_policy(file) for role, file in {"public": settings.policy, **settings.roles}.items()}


def served_records(settings: Settings, policy: Policy) -> str:
    """A name of the records that are served, as an attack on them gives it; empty where that is not known."""
    if settings.folder is None:
        return ""
    try:
        history = history_of(settings.folder)
    except InputError:
        return ""
    if history.present.secret or policy.secret is None:
        return records_name(history.marks.records)
    return records_name(EditionMarks.of(read_cube(settings.folder)[0], policy.secret).records)


def _standing(judged: list[Attack], settings: Settings) -> str:
    verdict = Verdict.worst([one.verdict for one in judged])
    if verdict is Verdict.FAIL and not settings.despite_attack:
        raise InputError(
            "by the report of the attack this policy does not hold: all its answers together give away more of small "
            "groups than a model of the two-way tables would. Change the policy, or serve it all the same: "
            "--despite-attack"
        )
    if verdict is Verdict.FAIL:
        return "by the report of the attack this policy does not hold, and it is served all the same (--despite-attack)"
    if verdict is Verdict.UNKNOWN:
        why = dict.fromkeys(words for one in judged for words in one.unjudged)
        return (
            f"by the report of the attack it is unknown whether this policy holds; not judged: {'; '.join(why) or '-'}"
        )
    left = dict.fromkeys(words for one in judged for words in one.omitted)
    return f"the attack on this policy left out: {'; '.join(left)}" if left else ""
