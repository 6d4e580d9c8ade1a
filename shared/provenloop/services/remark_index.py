"""The index of remarks: which of them cite a grain, and which hold a word.

Forgetting finds by it what was said of a grain, and a pass what rests on a grain that is gone, however much else was
said in a memory. A remark is indexed before it is stored, so one that is there is always found; one that is named and
is not there is passed over. Rows hold names of remarks under digests made with the memory's key, never text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from provenloop.domain.address import Addresses
from provenloop.domain.errors import BusyError
from provenloop.domain.mentions import probe_of, words_of
from provenloop.domain.names import MemoryId
from provenloop.domain.records import TermRow
from provenloop.domain.remark import Remark
from provenloop.services.ports import Store
from provenloop.services.term_index import drop_from_rows, name_under

#: The instant at which the engine looks whether a finding of somebody outside (ref: its id) still has words and live
#: evidence.
DUE_SAID = "said"


def index_remark(store: Store, memory: MemoryId, addresses: Addresses, remark: Remark, now: int) -> None:
    """Index a remark that is about to be stored.

    Raises:
        BusyError: others kept changing the same rows.
    """
    keys = (*_cited(addresses, remark.evidence), *_words(addresses, remark))
    name_under(store, memory, {key: [remark.name] for key in keys}, now)


def drop_words(store: Store, memory: MemoryId, addresses: Addresses, remarks: Iterable[Remark], now: int) -> None:
    """Forget which words remarks held, given as they were; what they cite stays, so that their findings are closed.

    A word that has segments is one of very many remarks: it tells nothing of one of them, and finding that one would
    take reading them all. Where others keep writing the same rows, what is left holds no text, and nobody has to wait.
    """
    wanted: dict[str, list[str]] = {}
    for remark in remarks:
        for key in _words(addresses, remark):
            wanted.setdefault(key, []).append(remark.name)
    with suppress(BusyError):
        drop_from_rows(store, memory, wanted, now)


def remarks_citing(store: Store, memory: MemoryId, addresses: Addresses, cited: Iterable[str]) -> tuple[Remark, ...]:
    """The remarks that cite one of some grains, oldest first."""
    return _under(store, memory, frozenset(_cited(addresses, cited)))


def remarks_that_may_mention(
    store: Store, memory: MemoryId, addresses: Addresses, folded: Iterable[str]
) -> tuple[Remark, ...]:
    """Remarks among which are all that mention one of some folded texts, oldest first."""
    return _under(store, memory, frozenset(_word_key(addresses, probe_of(text)) for text in folded))


def _under(store: Store, memory: MemoryId, keys: frozenset[str]) -> tuple[Remark, ...]:
    rows = store.term_rows(memory, keys) if keys else {}
    names = dict.fromkeys(name for row in rows.values() for name in _names(store, memory, row))
    found: Mapping[str, Remark] = store.remarks(memory, names) if names else {}
    return tuple(sorted(found.values(), key=lambda remark: (remark.at, remark.name)))


def _names(store: Store, memory: MemoryId, row: TermRow) -> Iterator[str]:
    yield from row.addresses
    for segment in store.term_segments(memory, row.term, row.segments) if row.segments else ():
        yield from segment.addresses


def _cited(addresses: Addresses, cited: Iterable[str]) -> Iterator[str]:
    return (addresses.short("cited by remarks", address) for address in cited)


def _words(addresses: Addresses, remark: Remark) -> Iterator[str]:
    words = frozenset[str]().union(*map(words_of, (remark.target, remark.summary, remark.guidance)))
    return (_word_key(addresses, word) for word in sorted(words))


def _word_key(addresses: Addresses, word: str) -> str:
    return addresses.short("word of remarks", word)
