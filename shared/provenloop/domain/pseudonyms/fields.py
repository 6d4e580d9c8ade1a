"""Which fields and relations name people."""

from __future__ import annotations

from collections.abc import Iterator

from provenloop.domain.pseudonyms.marks import marks
from provenloop.domain.pseudonyms.names import Says, names_somebody
from provenloop.domain.text import normalise_relation

_OF_SUBJECT = frozenset(
    "reports_to managed_by manages supervises supervised_by mentors mentored_by works_with works_for works_at "
    "works_in home_address knows married_to spouse partner_of parent_of child_of sibling_of friend_of colleague_of "
    "lives_in born_in born_on birthday primary_email email work_email phone phone_number mobile job_title nickname "
    "full_name first_name last_name emergency_contact salary nationality".split()
)
_OF_OBJECT = frozenset(
    "reports_to managed_by manages supervises supervised_by mentors mentored_by works_with knows married_to spouse "
    "partner_of parent_of child_of sibling_of friend_of colleague_of manager owner owned_by assigned_to assignee "
    "author authored_by written_by created_by approved_by reviewed_by reviewer requested_by reported_by reporter "
    "contact primary_contact account_manager emergency_contact lead led_by maintainer maintained_by on_call nickname "
    "full_name first_name last_name customer client assigned user username login primary_email email work_email "
    "phone phone_number mobile".split()
)
_PERSON = frozenset(
    "first_name last_name full_name given_name family_name middle_name surname nickname display_name user_name "
    "username login author assignee reporter reviewer approver manager account_manager sender_name recipient_name "
    "customer_name client_name contact_name contact_person employee_name patient_name caller_name cardholder "
    "cardholder_name nombre apellido vorname nachname prenom".split()
)
_MAYBE = frozenset(
    "name owner customer client user contact caller sender recipient person employee patient agent".split()
)
_MAX_CHARS = 80


def said_by(field: str) -> Says:
    """What the name of a field says of its value."""
    folded = normalise_relation(field[:_MAX_CHARS])
    return "person" if folded in _PERSON else "maybe" if folded in _MAYBE else "nothing"


def people_in(subject: str, relation: str, value: str) -> Iterator[str]:
    """The texts of a fact that name a person, as far as its relation tells: of ``(ann, reports_to, bob)`` both.

    Texts of common words only (``platform team``) name nobody.
    """
    folded = normalise_relation(relation)
    for text, relations in ((subject, _OF_SUBJECT), (value, _OF_OBJECT)):
        if folded in relations and len(text) <= _MAX_CHARS and (names_somebody(text) or any(True for _ in marks(text))):
            yield text
