"""What totals are called, in the languages of statistical offices and by the tools that make tables."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

USUAL = 2
"""A name that means a total wherever it stands."""
PERHAPS = 1
"""A name that may mean one: a category can have it too, as section T of NACE does."""

_USUAL = """
total; totals; tot; totl; grand total; overall; all; sum; subtotal; both sexes; btsx; all categories
everything; everyone; gesamt; insgesamt; gesamtsumme; gesamtergebnis; summe; alle; zusammen; ensemble; tous
toutes; somme; les deux sexes; totale; tutti; tutte; complesso; totaal; totaux; totais; totales; todos; todas
total general; totale generale; ambos sexos; ambos os sexos; suma; soma; conjunto; totalt; samtliga; summa
alla; i alt; alt i alt; begge køn; begge kjønn; samtals; alls; yhteensä; kokku; kopā; pavisam; iš viso; viso
razem; ogółem; ogolem; celkem; úhrnem; spolu; celkom; úhrn; összesen; együtt; ukupno; sveukupno; skupaj; vsi
gjithsej; gjithsejt; vkupno; вкупно; укупно; общо; всего; итого; усього; всього; разом; барлығы; σύνολο
συνολο; toplam; genel toplam; cəmi; jami; guztira; denera; iomlán; cyfanswm; 합계; 총계; 전체
계; 合計; 総計; 総数; 计; 合计
总计; 總計; 总数; 全部; المجموع; الإجمالي; إجمالي; مجموع; סה"כ; סך הכל; कुल; योग; মোট; jumlah; tổng; tổng số
tổng cộng; รวม; ทั้งหมด; kabuuan; jumla; totalo
"""
_PERHAPS = """
t; both; beide; beide geschlechter; les deux; ambos; entrambi; båda; begge; alt; persons; people; population
any; either; men and women; männer und frauen; national; country; nation; world
"""


_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


def _plain(text: str) -> str:
    """A name as it is compared: small letters, one blank between words, no signs around it."""
    whole = text if text.isascii() else unicodedata.normalize("NFKC", text)
    text = " ".join(whole.casefold().split())
    return text if text.isalnum() else _AROUND.sub("", text)


def _names(text: str) -> frozenset[str]:
    return frozenset(_plain(name) for name in re.split(r"[;\n]", text) if name.strip())


_KNOWN = {**dict.fromkeys(_names(_PERHAPS), PERHAPS), **dict.fromkeys(_names(_USUAL), USUAL)}


@lru_cache(16_384)
def like_a_total(code: str) -> int:
    """How much a code sounds like a total: ``USUAL``, ``PERHAPS`` or 0.

    >>> [like_a_total(code) for code in ("TOTAL", "_T", "Gesamt", "T", "All ages", "north")]
    [2, 2, 2, 1, 1, 0]
    """
    plain = _plain(code)
    if plain in _KNOWN and not (plain == "t" and code.strip().startswith("_")):
        return _KNOWN[plain]
    if plain == "t":  # SDMX: _T
        return USUAL
    words = plain.replace("-", " ").split()
    ends = {words[0], words[-1]} if words else set()
    return PERHAPS if any(_KNOWN.get(word) == USUAL for word in ends) else 0
