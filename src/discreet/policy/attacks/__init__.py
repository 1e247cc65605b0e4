"""All answers of a policy together: what they give away, measured by attacks (``attack``)."""

from discreet.policy.attacks.attack_report import Attack, Attacked
from discreet.policy.attacks.attacking import attack
from discreet.policy.attacks.sampling import Effort

__all__ = ["Attack", "Attacked", "Effort", "attack"]
