"""Frequent words, the commonest last; everything else counts as rare.

Changing the list changes stored postings: raise ``near_duplicates.VERSION`` with it.
"""

from __future__ import annotations

_RARER_FIRST = (
    "agent tool report log table column row version release branch job worker queue bucket cluster region email "
    "password login token key file folder project task issue ticket invoice payment price plan subscription product "
    "item address phone date day week month year hour minute message page site website app application server "
    "service api database system data test code error request response order account customer client user users "
    "people name number list value type status state result case way thing things part place point group company "
    "business work world life man woman child house water money question answer problem information support team "
    "change end start stop open close create update delete remove add send receive set run read write call check "
    "show find give take make made go going come came see saw look want wants need needs like likes prefer prefers "
    "know think say said says tell told ask asked help try use used using keep let put get got back still even last "
    "next new old good bad great high low long short big small large little same other another many much more most "
    "less least few several both each every any some all first second one two three four five ten well also very "
    "too just only then than now here there today tomorrow yesterday always never often again once before after "
    "during since until while because though although however therefore so if unless whether else when where why "
    "how which who whom whose what this that these those such own about above across against along among around "
    "behind below beneath beside between beyond down except into near off onto out outside over through toward "
    "under up upon within without per via yes no not don't doesn't didn't isn't wasn't aren't can't won't couldn't "
    "shouldn't please must may might shall should would could can will did does do done had has have having am are "
    "were was being been be is its it's their theirs them they our ours us we your yours you her hers she him his "
    "he my mine me i i'm as from with or but for on it by at です ます した して いる ある から まで ない こと もの "
    "する れる たい 我们 你们 他们 什么 怎么 可以 没有 一个 这个 那个 不是 的是 in of to and a the"
)
#: Token -> rank from 1; the commonest has the highest.
FREQUENT: dict[str, int] = {word: rank for rank, word in enumerate(_RARER_FIRST.split(), start=1)}
