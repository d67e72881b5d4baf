"""Bold, lists and line breaks of what the agent writes; everything else stays the characters it is."""

import pytest

from backoffice.chat_text import as_html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("退 **NT$230**", "<p>退 <strong>NT$230</strong></p>"),
        ("一\n二", "<p>一<br>二</p>"),
        ("一\n\n二", "<p>一</p><p>二</p>"),
        ("- 一\n- 二\n三", "<ul><li>一</li><li>二</li></ul><p>三</p>"),
        ("1. 一\n2. 二", "<ol><li>一</li><li>二</li></ol>"),
        ("- 一\n1. 二", "<ul><li>一</li></ul><ol><li>二</li></ol>"),
        ("## 標題", "<p><strong>標題</strong></p>"),
        ("<b>x</b> & y", "<p>&lt;b&gt;x&lt;/b&gt; &amp; y</p>"),
        ("**<i>x</i>**", "<p><strong>&lt;i&gt;x&lt;/i&gt;</strong></p>"),
        ("[<b>x</b>](/a)", '<p><a href="/a">&lt;b&gt;x&lt;/b&gt;</a></p>'),
        ("[訂單](/orders/5531/)", '<p><a href="/orders/5531/">訂單</a></p>'),
        ("[x](//evil.example)", "<p>[x](//evil.example)</p>"),
        ("[x](https://evil.example)", "<p>[x](https://evil.example)</p>"),
        ("[x](javascript:alert)", "<p>[x](javascript:alert)</p>"),
        ("[x](/\\evil.example)", "<p>[x](/\\evil.example)</p>"),
        ('[x](/a"onclick=1)', '<p><a href="/a&quot;onclick=1">x</a></p>'),
        ("2 * 3 ** 4", "<p>2 * 3 ** 4</p>"),
        ("", ""),
    ],
)
def test_a_text_becomes_these_elements_and_no_others(text: str, html: str) -> None:
    assert as_html(text) == html
