"""The page's script and the server draw the same text alike: what streamed in looks the same after a reload."""

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation

from backoffice.chat_text import as_html
from backoffice.screens.card_words import moment_said
from tests.browser.visit import Visit

TEXTS = [
    "退 **NT$230**，因為：\n\n- 耳機殼 NT$380\n- 優惠 −NT$150\n\n1. 一\n2) 二\n三",
    "## 標題\n一\n二\n\n\n三",
    "<b>x</b> & \"y\" 'z' **<i>粗</i>** [訂單](/orders/A%237/?a=1&b=2)",
    "[x](//evil.example) [x](javascript:alert(1)) [x](/\\evil) [x](/a b) ** 不粗 ** *斜*",
    "１. 全形\n- 行\u2028分隔\n## 標\u2029題",
    "![圖](/static/x.png) ![圖](https://evil.example/x.png) <img src=//evil.example> https://evil.example",
    "- 一\n\n- 二\n  - 三\n文字\r\n換行",
    "",
]
DRAW = """async (text) => {
    const { richNodes } = await import("/static/js/chat/rich.js");
    const drawn = document.createElement("div");
    drawn.append(...richNodes(text));
    return drawn.innerHTML;
}"""
READ = "(html) => new DOMParser().parseFromString(html, 'text/html').body.innerHTML"


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_script_and_server_draw_the_same(visit: Callable[..., Visit], text: str) -> None:
    page = visit(None).page
    page.goto("/accounts/login/")
    assert page.evaluate(DRAW, text) == page.evaluate(READ, as_html(text))


TAIPEI = ZoneInfo("Asia/Taipei")
NOW = datetime(2026, 9, 6, 0, 30, tzinfo=TAIPEI)  # in London it is still the day before
MOMENTS = {
    datetime(2026, 9, 6, 0, 5, tzinfo=TAIPEI): ("00:05", "00:05"),
    datetime(2026, 9, 5, 23, 59, tzinfo=TAIPEI): ("9月5日 23:59", "September 5 23:59"),
    datetime(2025, 12, 31, 9, 0, tzinfo=TAIPEI): ("2025年12月31日 09:00", "December 31, 2025 09:00"),
}
SAY = """async ([now, language, moments]) => {
    const { Clock } = await import("/static/js/chat/clock.js");
    return moments.map((at) => new Clock(now, language).moment(at));
}"""


def test_script_and_server_say_moments_alike_and_name_the_day_that_is_not_today(visit: Callable[..., Visit]) -> None:
    page = visit(None).page
    page.goto("/accounts/login/")
    for place, (language, tag) in enumerate((("zh-hant", "zh-Hant-TW"), ("en", "en"))):
        wanted = [words[place] for words in MOMENTS.values()]
        with translation.override(language):
            assert [moment_said(at, now=NOW) for at in MOMENTS] == wanted
        moments = [at.astimezone(ZoneInfo("UTC")).isoformat() for at in MOMENTS]
        assert page.evaluate(SAY, [NOW.isoformat(), tag, moments]) == wanted
