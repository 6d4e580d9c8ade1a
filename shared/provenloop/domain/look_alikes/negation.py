"""How often a text says no."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from provenloop.domain.look_alikes.atoms import Atom, Kind

#: Words that turn the sense round, and adjectives that hold a "not" which may be spelled out as well.
_NEGATORS = frozenset(
    "no not never cannot without none nobody nothing nowhere neither except excluding hardly barely unable invalid "
    "impossible unavailable incorrect incomplete inactive unsafe unverified unlikely unnecessary unsupported "
    "ineligible unauthorized unauthorised dont doesnt didnt isnt arent wasnt werent cant wont couldnt shouldnt wouldnt "
    "hasnt havent hadnt nicht kein keine keinen nie ohne pas jamais sans nunca".split()
)
#: Words of Chinese and Japanese that hold such a character and deny nothing.
_HAN_HARMLESS = re.compile(
    "非常|不过|不過|不仅|不僅|不但|不断|不斷|不同|不少|不错|不錯|对不起|對不起|无论|無論|无线|無線|無料|没收|未来|未來|差不多|要不要|"
    "少ない|危ない|(.)不\\1|(.)没\\2"
)
_HAN_NEGATION = re.compile("[不没沒未無无非]|ない|なかっ|なく[てな]|なけれ|ません|않|못|없|아니")
_NO = "no"
#: Prefix -> the fewest characters of a stem that it denies.
_PREFIXES = {"un": 3, "dis": 3, "non": 3, "in": 4, "im": 4, "il": 4, "ir": 4, "mis": 4}
_PREFIX_STARTS = tuple(_PREFIXES)
#: Stems that begin like a denied word and are none.
_NO_DENIAL = frozenset(
    "import inform input inside income install instanc invoic impress improv improvis immigrat implant impact insight "
    "intent intens interest inventori involv under until unit union index indent inn irish mission missil "
    "mistress display dispatch discount discover dispos distract distribut district discuss disc dispens invest "
    "inspir insert inquir infant inflam infus ingest inherit inlet inner innovat inset inspect instruct insur intak "
    "integrat intern interval intro invad invit inward imprint implod impuls impos impart impound disguis "
    "dismiss".split()
)


def negations(atoms: Sequence[Atom], plain: str) -> int:
    """0 where nothing is denied, 1 for an odd number of negations, 2 for an even one: "not" twice is not "not"."""
    count = sum(_denies(atoms, index, atom) for index, atom in enumerate(atoms))
    if count > 1 and atoms[0].text == _NO and atoms[0].ends:
        count -= 1  # "No, it does not" denies once
    if not plain.isascii():
        count += len(_HAN_NEGATION.findall(_HAN_HARMLESS.sub("", plain)))
    return 0 if count == 0 else 2 - count % 2


def _denies(atoms: Sequence[Atom], index: int, atom: Atom) -> bool:
    if atom.kind is not Kind.WORD:
        return False
    if atom.text == _NO and atom.ends and index + 1 < len(atoms):
        return atoms[index + 1].kind is not Kind.NUMBER  # "No. 5" is a number
    return atom.text in _NEGATORS or atom.text.endswith("n't")


def denied(stems: Iterable[str]) -> frozenset[str]:
    """The stems that words with a denying prefix deny: ``unverifi`` = verifi, ``dislik`` = lik."""
    found: set[str] = set()
    for word in stems:
        if word.startswith(_PREFIX_STARTS) and word not in _NO_DENIAL:
            rests = ((word.removeprefix(prefix), shortest) for prefix, shortest in _PREFIXES.items())
            found.update(rest for rest, shortest in rests if rest != word and len(rest) >= shortest)
    return frozenset(found)
