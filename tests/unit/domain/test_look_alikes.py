"""Guards tell look-alikes apart, leave paraphrases alone, and make a key that never parts what may be one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.look_alikes import REASONS, differences, guard_key
from provenloop.domain.text import normalise
from tests.growth import QUADRATIC, growth

#: Reason, and two texts that it tells apart.
APART = [
    ("number", "keep 5 backups", "keep 6 backups"),
    ("number", "keep five backups", "keep six backups"),
    ("number", "the contract ends on the 14th", "the contract ends on the 15th"),
    ("number", "needs node 18.2", "needs node 18.3"),
    ("number", "needs python 3.1", "needs python 3.10"),
    ("number", "the offset is -3", "the offset is 3"),
    ("number", "ids 1,2,3 are gone", "ids 1,2,4 are gone"),
    ("number", "a 10-minute call", "a 20-minute call"),
    ("number", "等十五天", "等十六天"),
    ("number", "预算一百二十万元", "预算一百三十万元"),
    ("number", "invoice 007", "invoice 7"),
    ("number", "the call is at 9:30", "the call is at 9:45"),
    ("number", "保留三个备份", "保留四个备份"),
    ("unit", "wait 5 seconds", "wait 5 minutes"),
    ("unit", "refund $20", "refund €20"),
    ("unit", "refund 20 CHF", "refund 20 SEK"),
    ("unit", "退款20元", "退款20円"),
    ("unit", "20元以上の返金", "20円以上の返金"),
    ("comparison", "alert when load > 5", "alert when load < 5"),
    ("comparison", "alert when load >5", "alert when load <5"),
    ("comparison", "alert when load >= 5", "alert when load > 5"),
    ("negation", "the job did finish", "the job didn't finish"),
    ("negation", "backups with keys", "backups without keys"),
    ("negation", "the backup is encrypted", "the backup is unencrypted"),
    ("negation", "the list is complete", "the list is incomplete"),
    ("negation", "members can see it", "non-members can see it"),
    ("negation", "客户要发票", "客户不要发票"),
    ("negation", "予約できる席がある", "予約できる席がない"),
    ("date", "the call is on Wednesday", "the call is on Thursday"),
    ("date", "renew it in march", "renew it in may"),
    ("date", "renew it on Tues 3", "renew it on Thurs 3"),
    ("date", "renew it on 3 Feb", "renew it on 3 Mar"),
    ("date", "the invoices of last month", "the invoices of this month"),
    ("date", "ship it today", "ship it tomorrow"),
    ("date", "会议在星期三", "会议在星期四"),
    ("date", "会議は水曜日", "会議は木曜日"),
    ("identifier", "pass --dry-run to it", "pass --force to it"),
    ("identifier", "see /etc/hosts", "see /etc/passwd"),
    ("identifier", "call api.example.com", "call www.example.com"),
    ("identifier", "write to ops@example.com", "write to hr@example.com"),
    ("identifier", "region us-west-2", "region ap-south-1"),
    ("identifier", "commit 9f3c2ab broke it", "commit 9f3c2ac broke it"),
    ("identifier", "set max_retries for it", "set max_tokens for it"),
    ("identifier", "set maxRetries for it", "set maxTokens for it"),
    ("identifier", "the parser is in C++", "the parser is in C#"),
    ("quote", "rename it to 'Blue'", "rename it to 'Blue Sky'"),
    ("quote", "rename it to “Blue”", "rename it to “Red”"),
    ("name", "send it to Globex today", "send it to Initech today"),
    ("name", "Globex renewed the contract", "Initech renewed the contract"),
    ("name", "choose plan B for them", "choose plan C for them"),
    ("name", "ask maria about it", "ask kevin about it"),
    ("name", "translate it to polish", "translate it to czech"),
    ("name", "flight to lisbon", "flight to madrid"),
    ("order", "move rows from archive to live", "move rows from live to archive"),
    ("order", "sales outgrew support", "support outgrew sales"),
    ("order", "please move all rows from archive to live", "move all the rows from live to archive"),
    ("order", "猫が犬を追う", "犬が猫を追う"),
    ("question", "who opened the door?", "when was the door opened?"),
    ("question", "what time is the call?", "how long is the call?"),
    ("question", "how can it be exported?", "can it be exported?"),
    ("length", "restart it", "restart it and then wait for the queue to drain and tell the customer"),
    ("opposite", "enable the cache", "disable the cache"),
    ("opposite", "turn on the cache", "switch off the cache"),
    ("opposite", "imports are slow", "exports are slow"),
    ("opposite", "the reviewer approved it", "the reviewer rejects it"),
    ("opposite", "rated 👍 by them", "rated 👎 by them"),
    ("opposite", "增加缓存", "减少缓存"),
    ("kind", "use the development account", "use the staging account"),
    ("kind", "paint the door red", "paint the door green"),
    ("unit", "show it in kilometers", "show it in miles"),
    ("name", "大阪のホテル", "京都のホテル"),
]
#: Two texts that mean the same; no guard may speak.
TOGETHER = [
    ("keep 3 backups", "keep three backups"),
    ("1,000 rows", "1000 rows"),
    ("2.5 million rows", "2500000 rows"),
    ("5k rows", "5,000 rows"),
    ("set it to one", "set it to 1"),
    ("the 2nd attempt", "the second attempt"),
    ("two hundred and five rows", "205 rows"),
    ("twenty-one days", "21 days"),
    ("two thousand and a dozen", "2000 and 12"),
    ("1.5 kg", "1,50 kg"),
    ("等十五天", "等15天"),
    ("预算一百二十万元", "预算1200000元"),
    ("wait a second", "wait a moment"),
    ("First, restart it", "restart it"),
    ("load >5", "load > 5"),
    ("load ≥ 5", "load >= 5"),
    ("Tues 3 Feb", "Tuesday 3 February"),
    ("how many rows are there?", "what is the count of rows?"),
    ("wait 5 minutes", "wait 5 min"),
    ("version 1.2.3", "v1.2.3"),
    ("it costs $5.00", "it costs 5 dollars"),
    ("due on October 15th", "due on 15 October"),
    ("the call is at 3pm", "the call is at 3 PM"),
    ("٣ files", "3 files"),
    ("三月开会", "3月开会"),
    ("it cannot start", "it can't start"),
    ("No, it does not start", "it does not start"),
    ("No. 5 is ready", "number 5 is ready"),
    ("我是不是管理员", "我是管理员吗"),
    ("the user_id is set", "the userId is set"),
    ("the user id is set", "the user_id is set"),
    ("see /etc/hosts.", "see /etc/hosts/"),
    ("a two-factor login", "a 2FA login"),
    ("open a PR for it", "open a pull request for it"),
    ("set up the Mac", "set up the macOS laptop"),
    ("rename it to “Blue”", "rename it to 'blue'"),
    ("rename it to Blue", 'rename it to "Blue"'),
    ("the sun rises", "The Sun rises"),
    ("after the deploy, clear the whole cache", "clear the whole cache after every deploy"),
    ("how do I export it?", "what is the way to export it?"),
    ("can you tell me where the report is", "where is the report"),
    ("create a key", "generate a key"),
    ("one can restart it", "you can restart it"),
    ("delete it right now", "delete it from the left menu"),
    ("RESTART THE WORKER NOW", "restart the worker now"),
]

vocabulary = st.sampled_from(
    "the a of and 3 three 4 3rd 3.10 3.1 $5 5 dollars minutes min -2 < > not n't can't without no. No, valid invalid "
    "Monday may May 5th --force --dry-run a/b/c.py max_cost maxCost Alice Bob alice 'x' \"y\" on off turn start stop "
    "before after all one red green who when how ? 不 喝 茶 三个 星期一 👍 👎 C++ c# ... ıI İ ß SS ﬁ".split()
)
texts = st.lists(vocabulary, max_size=8).map(" ".join) | st.text(max_size=12)


@pytest.mark.parametrize(("reason", "left", "right"), APART)
def test_a_pair_that_differs_in_one_respect_is_told_apart_for_that_reason(reason: str, left: str, right: str) -> None:
    assert reason in differences(left, right)
    assert differences(left, right) == differences(right, left)


@pytest.mark.parametrize(("left", "right"), TOGETHER)
def test_a_paraphrase_is_left_alone(left: str, right: str) -> None:
    assert differences(left, right) == ()


def test_reasons_are_told_in_one_order() -> None:
    found = differences("buy 10 shares on Monday", "never sell 12 shares on Tuesday")
    assert found == ("number", "negation", "date", "opposite")
    assert list(found) == sorted(found, key=REASONS.index)


def test_every_reason_has_an_example() -> None:
    assert {reason for reason, _, _ in APART} == set(REASONS)


@pytest.mark.parametrize(
    ("reason", "left", "right"),
    [row for row in APART if row[0] in ("number", "comparison", "date")],
)
def test_what_is_compared_of_one_text_parts_keys(reason: str, left: str, right: str) -> None:
    assert reason
    assert guard_key(left) != guard_key(right)


def test_the_key_ignores_the_order_of_words_and_the_other_words() -> None:
    assert guard_key("on Monday restart 3 hosts") == guard_key("3 servers were lost, Monday")


@given(texts, texts)
def test_texts_with_different_keys_always_differ_by_a_guard(left: str, right: str) -> None:
    found = differences(left, right)
    assert found == differences(right, left)
    assert set(found) <= set(REASONS)
    if not found:
        assert guard_key(left) == guard_key(right)


@given(texts)
def test_spellings_of_one_text_never_differ_and_share_a_key(text: str) -> None:
    assert differences(text, normalise(text)) == ()
    assert guard_key(text) == guard_key(normalise(text))


@pytest.mark.parametrize(
    "unit",
    ["a", "1", "1,", "1.", "-", "'", '"', "/", "a/", "a.", "a@", "a_", "aB", "A ", "'a ", "one hundred ", "not ",
     "turn ", "5 May ", "Abc. ", "十", "不是", "茶", "🙂", "<1 ", "?", "«", "`x` ", "un", "a-", "$", "#1 ", "v1."],
)  # fmt: skip
def test_reading_and_comparing_are_linear_in_the_length_of_the_text(unit: str) -> None:
    def compare(text: str) -> object:
        text = text[: len(text) // 8]
        return differences(text, text + " end")

    assert growth(compare, unit) < QUADRATIC
