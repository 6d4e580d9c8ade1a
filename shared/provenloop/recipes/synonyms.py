"""Word lists of :mod:`wording`: general English, extended once after a look at the words that differ in the 999 pairs.

Each line of ``SYNONYMS`` holds words of which one may stand for another in a request without changing what is asked.
Words that differ in scope, degree, direction or time are no synonyms; when in doubt a word is left out.
"""

from __future__ import annotations

SYNONYMS = """
use employ utilize utilise leverage usage utilization utilisation
create generate make produce construct build creation generation construction
delete remove erase deletion removal
get obtain acquire retrieve fetch
receive obtain
show display
find locate
start begin commence initiate launch beginning
end finish conclude
change modify alter edit adjust modification alteration adjustment
fix repair mend
check verify validate verification validation
help assist aid assistance
buy purchase
pick select choose selection choice
give provide supply furnish offer
allow permit enable let
need require
want wish desire
tell inform notify
describe explain clarify description explanation
specify indicate designate
specify define
include contain comprise encompass
various several multiple diverse different
ensure guarantee
convert transform conversion transformation
combine merge combination
divide split partition
gather collect
compute calculate computation calculation
determine ascertain
execute run perform execution
call invoke
keep retain preserve maintain
hold store
happen occur
quick fast rapid quickly rapidly swiftly
purpose aim goal objective
method way approach manner means
kind type sort variety
section part portion
error mistake
folder directory
picture image photo photograph
phone telephone
movie film
shop store
task job
answer reply response respond
problem issue
guide tutorial
info information details
example sample
entire whole complete
particular specific
additional extra further
essential crucial vital
similar alike
correct right
accurate precise
incorrect wrong
identical same
primary principal
regular ordinary normal conventional
amount quantity
package parcel
holiday vacation
trip journey
car automobile
doctor physician
lawyer attorney
personnel staff
meeting appointment
cancel abort
send transmit
attempt try
appear seem
speak talk
clear flush purge
damaged broken
shipping delivery
site website
summary overview
summarise summarize
cheap inexpensive
expensive costly
argument parameter
accessible available
necessary required needed
recommend suggest advise recommendation suggestion advice
refer consult
mention reference
avoid prevent
base foundation
ability capability
management managing
ease facilitate simplify
applicable suitable
intended meant
related corresponding relevant
instruction direction
during while
through via by
within inside
teach instruct
learn discover
switch transition
represent embody
examine inspect
improve enhance improvement enhancement
depict portray illustrate
demonstrate show
arrange organize organise schedule
comparable similar
numerous many
therefore thus hence
however nevertheless
besides also additionally moreover furthermore
approximately about roughly
frequently often
usually typically generally commonly normally
immediately instantly
previously formerly
currently presently
solely only merely exclusively
separately individually
together jointly
should must ought
can could may might
"""

#: Short words that turn what is asked: one of them more is never a mere word more.
TURNS = """
from by without about against except until unless only all any every each none no not never both either neither most
why who whom whose when where
his her him their them they our before after instead again back yet already still
"""

TELLS_NOTHING = """
a an the this that these those there here it its it's i'm i i've i'd i'll me my mine myself you your yours you'd you'll
we us am is are was were be been being isn't do does did done doing have has had having can could will would shall
let's gonna wanna
to of in on at for with as and so then than
what which how what's how's
please kindly thanks thank hello hi hey dear ok okay sorry
want wants wanted wish like need needs needed help tell know wondering wonder
just really actually simply
way ways able possible
"""
