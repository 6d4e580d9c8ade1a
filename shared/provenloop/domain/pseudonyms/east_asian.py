"""Names before a title in Chinese, Japanese and Korean, which write no capitals and few blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from provenloop.domain.pseudonyms.seen import Span

_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_JAPANESE = re.compile(
    rf"([{_HAN}]{{1,6}}|[\u30a1-\u30fa\u30fc\u30fb]{{2,20}}|[\u3041-\u3096]{{2,6}})(?:さん|様|さま|氏|君|くん|ちゃん|殿|先生)"
)
_CHINESE = re.compile(
    rf"([{_HAN}\u00b7]{{1,8}})(?:先生|女士|小姐|太太|经理|經理|总监|老师|老師|医生|醫生|博士|同学|同學)"
)
_KOREAN = re.compile(r"([\uac00-\ud7af]{2,4})[ ]?(?:씨|님)")
_TOLD = re.compile(
    rf"(?:我叫|我的名字是|名前は|姓名[:是]?|氏名[:は]?|担当者?[:は]|联系人[:是]?|聯絡人[:是]?)"
    rf"[ ]?([{_HAN}]{{2,4}}|[\u30a1-\u30fa\u30fc\u30fb]{{2,20}})"
    r"|(?:이름은|성함은|이름:)[ ]?([\uac00-\ud7af]{2,4}?)(?=입니다|이에요|예요|[\s.,!]|$)"
)
#: Who is spoken to by a title and has no name: a customer, everybody, a god.
_NOBODY = frozenset(
    "お客 客 皆 皆々 みな 神 王 上 殿 奥 旦那 お子 子 お医者 医者 店員 患者 業者 奴 どちら 貴 同 各 何 同人 諸 "
    "고객 선생 사장 회원 사용자 손님 부장 과장 팀장 대리 교수 의사 관리자 여러분 아버 어머 하느 담당자".split()
)
#: Words that end right before a name.
_BEFORE = ("は", "が", "を", "に", "の", "と", "で", "も", "へ", "や")
_CHINESE_SURNAMES = frozenset(
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖萧蕭田董袁潘于蒋蔣蔡余杜叶葉程苏蘇"
    "魏吕呂丁任沈姚卢盧姜崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦韋付方白邹鄒孟熊秦邱江尹薛闫阎段雷侯龙龍史陶黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴"
    "覃武戴莫孔向汤湯"
)
_LONGEST_CHINESE = 4


def east_asian_names(text: str) -> Iterator[Span]:
    """Where a text names somebody by a title, or says what somebody is called."""
    for pattern in (_JAPANESE, _KOREAN):
        for found in pattern.finditer(text):
            if found[1] not in _NOBODY and not found[1].endswith(_BEFORE):
                yield Span(*found.span(1), "PERSON")
    for found in _CHINESE.finditer(text):
        yield Span(found.end(1) - len(_chinese(found[1])), found.end(1), "PERSON")
    for found in _TOLD.finditer(text):
        yield Span(*found.span(found.lastindex or 0), "PERSON")


def _chinese(before: str) -> str:
    """The end of a text that is a name: from a surname on, or all that could be one."""
    near = before if "\u00b7" in before else before[-_LONGEST_CHINESE:]
    places = [index for index, char in enumerate(near[:-1]) if char in _CHINESE_SURNAMES]
    return near[places[-1] :] if places else near[-3:]
