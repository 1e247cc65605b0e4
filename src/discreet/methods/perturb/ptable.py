"""Perturbation tables: the probabilities of every change of a count, designed by maximum entropy.

Marley and Leaver (2011) and Giessing (2016), as the R package ptable makes them and tau-ARGUS reads them.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import above, checked, numbers, positive, whole
from discreet.base.files import TEXT, check_suffix, write_whole
from discreet.base.texts import as_csv, read_text
from discreet.errors import InputError
from discreet.methods.perturb.entropy import largest_entropy
from discreet.risk.transition import Transition

_DESIGNED, _WIDEST = 100, 1000  # noise of more than this would take minutes to design, or gigabytes to hold
_CUT, _CUTS = 0.05, 20  # how a probability of staying is lowered that goes with no distribution


@checked
@dataclass(frozen=True, eq=False)
class PTable:
    """P(noise = v | count = i): row i = 0, 1, ..., column v = -D, ..., D. The last row serves all larger counts.

    ``epsilon`` and ``delta`` are stated where the table gives differential privacy for one cell.

    >>> PTable.design(2, 0.9).row(1).round(4)
    {-1: 0.3625, 0: 0.3625, 1: 0.1875, 2: 0.0875}
    """

    probabilities: Floats
    epsilon: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        p = np.array(numbers("probabilities", self.probabilities))
        for name in ("epsilon", "delta"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        if p.ndim != 2 or p.shape[1] % 2 == 0 or not np.isfinite(p).all():
            raise InputError(f"a perturbation table has one row a count and columns for -D to D; given: {p.shape}")
        if p.min() < 0 or np.abs(p.sum(axis=1) - 1).max() > 1e-6:
            raise InputError("the rows of a perturbation table are probabilities: each 0 or more, with sum 1")
        below = np.arange(len(p))[:, None] + np.arange(-self._d(p), self._d(p) + 1) < 0
        if p[below].any():
            raise InputError("the perturbation table makes some counts negative")
        p = _whole(p)
        p.flags.writeable = False
        object.__setattr__(self, "probabilities", p)

    @staticmethod
    def _d(p: Floats) -> int:
        return int(p.shape[1] // 2)

    # -- ways in ------------------------------------------------------------------------------------------------

    @classmethod
    def design(cls, d: int, v: float, js: int = 0, pstay: float | None = None, *, mono: bool = True) -> PTable:
        r"""Noise of most ``d``, mean 0 and variance at most ``v`` with the largest entropy, as R's ptable has it.

        .. math:: \min \sum_v p_v \log p_v \quad \sum p_v = 1,\ \sum v p_v = 0,\ \sum v^2 p_v \le V,\ p_0 \ge pstay

        Giessing (2016), "Computational issues in the design of transition probabilities". ``js``: no count shows as 1
        to js. ``mono``: the probabilities rise up to 0 from the left. Where no such distribution exists ``pstay`` is
        cut in steps of 0.05.

        >>> PTable.design(3, 2, js=1).row(4).round(3)
        {-2: 0.168, -1: 0.233, 0: 0.244, 1: 0.192, 2: 0.113, 3: 0.05}
        """
        whole("d", d, 1, _DESIGNED)
        whole("js", js, 0, d)
        above("v", v)
        if pstay is not None and not 0 <= pstay < 1:
            raise InputError(f"pstay={pstay}: give a probability from 0 to below 1")
        last = d if js == 0 else d + js + 1
        rows = [_row(i, d, float(v), js, pstay or 0.0, mono) for i in range(1, last + 1)]
        zero = np.zeros(2 * d + 1)
        zero[d] = 1
        return cls(np.array([zero, *rows]))

    @classmethod
    def geometric(cls, epsilon: float, d: int) -> PTable:
        r"""Two-sided geometric noise cut at ±d, :math:`p_v \propto e^{-\epsilon |v|}`, negative results shown as 0.

        Ghosh, Roughgarden and Sundararajan (2009). One cell, one record added or taken away: (ε, δ)-differential
        privacy with :math:`\delta = p_d`, the chance of a value that the neighbouring table cannot show. Empty
        cells are perturbed too, by their category keys, as it needs; a record in m published cells spends m times as
        much. Counts below d are biased upwards.

        >>> table = PTable.geometric(1.0, 5)
        >>> round(table.delta, 6)
        0.003125
        """
        whole("d", d, 1, _WIDEST)
        above("epsilon", epsilon)
        v = np.arange(-d, d + 1)
        p = np.exp(-epsilon * np.abs(v))
        p /= p.sum()
        rows = np.tile(p, (d + 1, 1))
        for i in range(d):
            rows[i, d - i] += rows[i, : d - i].sum()
            rows[i, : d - i] = 0
        return cls(rows, epsilon=float(epsilon), delta=float(p[-1]))

    def with_zeros(self, share: float, shown: int = 1) -> PTable:
        """The same with a share of the zeros shown as a small count. Zeros can only rise, so this has a bias.

        >>> PTable.design(2, 1).with_zeros(0.1).row(0)
        {0: 0.9, 1: 0.1}
        """
        whole("shown", shown, 1)
        if not 0 <= share < 1 or shown > self.d:
            raise InputError(f"share={share}, shown={shown}: give a share below 1 and a count of at most D={self.d}")
        rows = self.probabilities.copy()
        rows[0] = 0
        rows[0, self.d], rows[0, self.d + shown] = 1 - share, share
        return PTable(rows)

    @classmethod
    def read(cls, path: str | Path) -> PTable:
        """From a file of R's ptable or of tau-ARGUS: columns i, v (or j), and p (or p_int_ub), with ; or , between.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = PTable.design(2, 1).write(f"{folder}/noise.csv")
        ...     PTable.read(f"{folder}/noise.csv")
        PTable(D=2, 3 rows, largest variance 1)
        """
        return _read(Path(path))

    def write(self, path: str | Path | None = None) -> bytes:
        """As R's ``pt_export(SDCtool = "TauArgus")`` writes it: i;j;p;v;p_int_ub.

        >>> PTable.design(2, 1).write().decode().splitlines()[:2]
        ['"i";"j";"p";"v";"p_int_ub"', '0;0;1.0;0;1.0']
        """
        check_suffix(path, TEXT, "a p-table")
        lines = ['"i";"j";"p";"v";"p_int_ub"']
        for i, row in enumerate(self.probabilities):
            ends = np.cumsum(row)
            held = np.flatnonzero(row)
            for k in held:
                end = 1.0 if k == held[-1] else float(ends[k])
                lines.append(f"{i};{i + k - self.d};{float(row[k])!r};{k - self.d};{end!r}")
        data = ("\n".join(lines) + "\n").encode()
        if path is not None:
            write_whole(path, data)
        return data

    # -- what it says -------------------------------------------------------------------------------------------

    @property
    def d(self) -> int:
        """The most a count can change."""
        return self._d(self.probabilities)

    @cached_property
    def noise(self) -> Array:
        """-D, ..., D."""
        return np.arange(-self.d, self.d + 1)

    def row(self, count: int) -> Row:
        """What may be added to a count, with the probabilities.

        >>> PTable.design(2, 1).row(5).round(3)
        {-2: 0.064, -1: 0.245, 0: 0.383, 1: 0.245, 2: 0.064}
        """
        p = self.probabilities[min(count, len(self.probabilities) - 1)]
        return Row({int(v): float(q) for v, q in zip(self.noise, p, strict=True) if q > 0})

    @property
    def bias(self) -> Floats:
        """The mean noise of each row."""
        out: Floats = self.probabilities @ self.noise
        return out

    @property
    def variance(self) -> Floats:
        """The variance of the noise of each row."""
        out: Floats = self.probabilities @ self.noise**2 - self.bias**2
        return out

    def transition(self) -> Transition:
        """The same as P(shows j | was i).

        >>> [(shown, round(p, 3)) for shown, p in PTable.design(1, 0.5).transition().outcomes(4)]
        [(3, 0.25), (4, 0.5), (5, 0.25)]
        """
        return self._transition

    @cached_property
    def _transition(self) -> Transition:
        n = len(self.probabilities)
        matrix = np.zeros((n, n + self.d))
        for i, p in enumerate(self.probabilities):
            held = np.flatnonzero(p)
            matrix[i, i + held - self.d] = p[held]
        return Transition(matrix)

    @property
    def moves_zeros(self) -> bool:
        """Whether an empty cell may show a count."""
        return bool(self.probabilities[0, self.d] < 1)

    def bounds(self, shown: Array) -> tuple[Array, Array]:
        """The least and the largest count that may stand behind each shown one.

        >>> least, most = PTable.design(2, 1).bounds(np.array([0, 3, 10]))
        >>> least.tolist(), most.tolist()
        ([0, 1, 8], [2, 5, 12])
        """
        least, largest = self._behind
        at = np.minimum(shown, len(self.probabilities) + self.d)  # from there on only the last row plays a part
        return least[at] + (shown - at), largest[at] + (shown - at)

    @cached_property
    def _behind(self) -> tuple[Array, Array]:
        """The same for the counts shown up to where the last row is the only one."""
        n, d = len(self.probabilities), self.d
        span = np.arange(n + 2 * d + 1)
        possible = np.zeros((len(span), len(span)), bool)  # shown x count
        for count in span:
            held = np.array([count + v for v in self.row(int(count))])
            possible[held[held < len(span)], count] = True
        return np.argmax(possible, axis=1), len(span) - 1 - np.argmax(possible[:, ::-1], axis=1)

    def counts_behind(self, first: int, last: int) -> tuple[int, int]:
        """The least and the largest count that may show a value from ``first`` to ``last``.

        >>> PTable.design(2, 1).counts_behind(10, 11)
        (8, 13)
        """
        span = range(max(first - self.d, 0), last + self.d + 1)

        def shows(count: int) -> bool:
            return any(first <= count + v <= last for v in self.row(count))

        return next(filter(shows, span), max(first, 0)), next(filter(shows, reversed(span)), last)

    def look_up(self, counts: Array, uniform: Floats) -> Array:
        """The noise of counts whose numbers in [0, 1) are given: small numbers take away, large ones add.

        >>> PTable.design(2, 1).look_up(np.array([5, 5, 5]), np.array([0.01, 0.5, 0.99])).tolist()
        [-2, 0, 2]
        """
        row = np.minimum(counts, len(self.probabilities) - 1)
        ends = self._ends
        out = np.full(counts.shape, -self.d, np.int64)
        for k in range(2 * self.d):
            out += uniform >= ends[k][row]
        return out

    @cached_property
    def _ends(self) -> Floats:
        ends = np.cumsum(self.probabilities, axis=1)
        for i, p in enumerate(self.probabilities):  # no rounding error at the right end
            ends[i, int(np.flatnonzero(p)[-1]) :] = 2.0
        return np.ascontiguousarray(ends.T)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PTable) and np.array_equal(self.probabilities, other.probabilities)

    def __hash__(self) -> int:
        return hash(self.probabilities.tobytes())

    def __repr__(self) -> str:
        private = "" if self.epsilon is None else f", epsilon {self.epsilon:g}, delta {self.delta:.2g}"
        return (
            f"PTable(D={self.d}, {len(self.probabilities)} rows, largest variance {self.variance.max():.4g}{private})"
        )


class Row(dict[int, float]):
    """Noise and its probability."""

    def round(self, digits: int) -> dict[int, float]:
        """The same with rounded probabilities, for the eye."""
        return {v: round(p, digits) for v, p in self.items()}


def _row(i: int, d: int, v: float, js: int, pstay: float, mono: bool) -> Floats:
    targets = [j for j in range(max(i - d, 0), i + d + 1) if not 1 <= j <= js]
    noise = np.array(targets) - i
    for cut in range(_CUTS + 1):
        stay = max(pstay - cut * _CUT, 0.0)
        p = largest_entropy(noise, v, stay, mono)
        if p is not None:
            out = np.zeros(2 * d + 1)
            out[noise + d] = p
            return out
        if stay == 0:
            break
    raise InputError(
        f"no noise of at most {d} with variance at most {v:g} keeps a count of {i} unbiased"
        f"{f' and hides 1 to {js}' if js else ''}; give a larger v or d, or a smaller js"
    )


def _read(path: Path) -> PTable:
    text = read_text(path)
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    with as_csv(repr(path.name)):
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    known = {name.strip().lower(): name for name in (rows[0] if rows else {}) if name is not None}
    aliases = {"v": ("v", "diff"), "ub": ("p_int_ub", "kum_p_o", "ub")}
    if "i" not in known or not {"v", "j", "diff"} & known.keys() or not {"p", *aliases["ub"]} & known.keys():
        raise InputError(f"{path.name!r} is not a perturbation table: its columns should be i, j, p, v, p_int_ub")

    def column(*names: str) -> Floats | None:
        name = next((known[n] for n in names if n in known), None)
        try:
            return None if name is None else np.array([float(row[name].replace(",", ".")) for row in rows])
        except (ValueError, AttributeError):
            raise InputError(f"{path.name!r}: column {name!r} should hold numbers") from None

    first, shift, target = column("i"), column(*aliases["v"]), column("j")
    assert first is not None
    for column_values in (first, shift, target):
        if column_values is not None and not (np.abs(column_values) <= _WIDEST).all():  # NaN too
            raise InputError(f"{path.name!r}: counts and noise are whole numbers of at most {_WIDEST:,}")
    i = first.astype(int)
    p, ends = column("p"), column(*aliases["ub"])
    v = (shift if shift is not None else target - i).astype(int)
    if p is None:
        assert ends is not None
        p = ends - np.where(np.concatenate([[False], i[1:] == i[:-1]]), np.concatenate([[0.0], ends[:-1]]), 0.0)
    if len(i) and sorted(set(i.tolist())) != list(range(i.max() + 1)):
        raise InputError(f"{path.name!r}: there should be a row for every count from 0 to the largest")
    d = int(np.abs(v).max())
    table = np.zeros((i.max() + 1, 2 * d + 1))
    np.add.at(table, (i, v + d), p)
    if not (np.abs(table.sum(axis=1) - 1) <= 1e-4).all():  # of every count; NaN too
        raise InputError(f"{path.name!r}: the probabilities of a count should sum to 1")
    return PTable(_whole(table))


def _whole(p: Floats) -> Floats:
    """Rows that sum to 1; those that do but for rounding stay to the bit, so that what is written is what is read."""
    sums = p.sum(axis=1, keepdims=True)
    return np.asarray(p / np.where(np.abs(sums - 1) <= 1e-12, 1.0, sums))
