"""What is said to come: money by a day, goods that will be sent, a voucher. See `agent/claim_forms.py`.

Reach `AHEAD`: such words stand where something waits to come true, a refund, or a card that is still to be pressed.
Only words that bind count: a day or a term stands beside them, and the amount or whose money it is. How long refunds
take, and what would come after a press, bind nobody (`agent/claim_guards.py`).
"""

from typing import Final

from agent.claim_forms import form
from agent.deeds import ADDRESS, COMPENSATION, EXCHANGE, REFUND, Reach

AHEAD, UNDER_WAY = Reach.AHEAD, Reach.UNDER_WAY
# Signs of a clause that leave it open whether it comes at all are none of these.
_A = r"(?:(?!才|需|可以|可能|能夠|不能|無法|通常|一般|大約|約|按|後|若|如果|不會|沒|未|扣|付款|支付)[^,:。?!])"
_SUM = r"(?:(?:nt\$|us\$|\$)\d[\d,.]{0,15}元?|(?<![\d.,])\d[\d,.]{0,15}(?:元|塊|圓))"
_MONEY = rf"(?:退款|退費|退刷|刷退|(?<![付扣貨退])款項|錢|{_SUM})"
_COMES = r"(?:退[到至回給還進入]|退(?=您|你|nt|\$|\d)|入帳|到帳|進帳|回到|匯[回到入給還]|[進存轉撥打][到入回進]|還給)"
_TERM = (
    r"(?:(?:\d{1,2}|[一二兩三四五六七十幾半]{1,3}) ?(?:(?:到|至|-|~|–) ?(?:\d{1,2}|[一二兩三四五六七十]{1,3}) ?)?"
    r"個?(?:工作)?(?:天|日|週|星期|小時)|今[天日晚]|明[天日]|後天|這[幾兩]天|這週|本週|下週|下星期|"
    r"(?:週|星期|禮拜)[一二三四五六日]|月底|近日|近期|馬上|很快|"
    r"最快|盡快|儘快|\d{1,2}/\d{1,2}|\d{1,2} ?月 ?\d{1,2} ?日)"
)
_BINDS = rf"^(?=.{{0,200}}?(?:您|你|nt\$|\$|\d(?:元|塊)))(?=.{{0,200}}?{_TERM})"
_NEW = r"(?:新品|新的|新耳機|新貨|替換品|替換的|替代品|換貨商品|全新)"
_GIFT = r"(?:購物金|優惠券|優惠碼|折價券|折扣碼|點數|回饋金|慰問金|禮券|抵用券|紅利)"

_E = r"[^,;:.?!]"
_USD = r"(?:(?:nt|us)?\$ ?\d[\d,.]{0,15}|(?<![\d.,])\d[\d,.]{0,15} ?(?:ntd|twd|dollars))"
_WILL = r"(?:\bwill\b|'ll\b|\bshould\b|\bis going to\b|\bis expected to\b|\bis due to\b)"
_ARRIVE = (
    r"\b(?:arrive|be (?:back|there|in your|on your|with you|refunded|returned|credited|paid|sent back|deposited)|"
    r"show(?: up)?|appear|reach|land|come (?:back|through)|go back|hit)\b"
)
_ENGLISH_TERM = (
    r"\b(?:(?:within|in)(?: about| around| roughly)? (?:\d{1,2}|an?|the next|one|two|three|five|seven|"
    r"ten|a few|a couple)"
    r"\b[a-z \d–-]{0,20}\b(?:hours?|days?|weeks?)|\d{1,2} ?(?:-|–|to) ?\d{1,2} (?:business |working )?days|"
    r"tomorrow|today|tonight|shortly|soon|(?:by|on|before|next) (?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"(?:by|before) the end of|(?:this|next) week)"
)
_ENGLISH_DAY = rf"^(?=.{{0,200}}?{_ENGLISH_TERM})"
_ONE = (
    r"(?:(?:new|replacement|fresh|another|second) (?:pair|one|item|unit|case|parcel|set|earphones|headphones)|"
    r"replacement)"
)
_VOUCHER = r"(?:voucher|coupon|store credit|discount code|gift card|bonus points|points)"

COMING: Final = (
    form(REFUND, AHEAD, rf"{_MONEY}{_A}{{0,24}}?{_COMES}", beside=_BINDS, promise=True),
    form(
        REFUND,
        AHEAD,
        rf"(?:您|你){_A}{{0,10}}?(?:會|將){_A}{{0,4}}?(?:收到|看到|拿到){_A}{{0,10}}?(?:退款|款項|{_SUM})",
        beside=_BINDS,
        promise=True,
    ),
    form(ADDRESS, AHEAD, rf"(?:會|將){_A}{{0,4}}(?:寄|送)[到至往](?:您的?|你的?)?新的?(?:地址|地方)", promise=True),
    form(EXCHANGE, AHEAD, rf"{_NEW}{_A}{{0,10}}(?:會|將|就){_A}{{0,6}}(?:寄|出貨|送)", beside=_BINDS, promise=True),
    form(
        EXCHANGE,
        AHEAD,
        rf"(?:會|將|就){_A}{{0,10}}(?:寄|出貨){_A}{{0,8}}{_NEW}",
        beside=rf"^(?=.{{0,200}}?{_TERM})",
        promise=True,
    ),
    form(
        COMPENSATION,
        UNDER_WAY,
        rf"(?:我們?|本店|店家|這邊){_A}{{0,4}}會{_A}{{0,4}}(?:送|補償|補貼|賠償|賠|贈送)給?(?:您|你)"
        rf"{_A}{{0,12}}(?:{_GIFT}|{_SUM})",
        promise=True,
    ),
    form(
        REFUND,
        AHEAD,
        rf"\b(?:(?:your|the) (?:{_USD} )?(?:refund|money)\b|refund of {_USD}|(?:the )?{_USD}){_E}{{0,30}}?{_WILL}"
        rf"{_E}{{0,16}}?{_ARRIVE}",
        beside=_ENGLISH_DAY,
        promise=True,
    ),
    form(
        REFUND,
        AHEAD,
        rf"\b(?:expect|look out for|watch for) (?:the |your )?(?:{_USD}|refund\b|money\b)",
        beside=_ENGLISH_DAY,
        promise=True,
    ),
    form(REFUND, AHEAD, rf"{_USD} (?:now )?(?:goes|is going) back (?:on)?to your\b", promise=True),
    form(
        REFUND,
        AHEAD,
        rf"\byou(?:'ll| will| should| can expect to)(?: soon| then)? (?:see|get|receive|have)\b{_E}{{0,20}}?"
        rf"(?:{_USD}|\byour (?:refund|money)\b)",
        beside=_ENGLISH_DAY,
        promise=True,
    ),
    form(
        REFUND,
        AHEAD,
        r"\b(?:i|we)(?:'ll| will| are going to| am going to)(?: now| also)? (?:refund|pay back|send back|give back)\b"
        rf"{_E}{{0,12}}?(?:{_USD}|\byour money\b)",
        beside=_ENGLISH_DAY,
        promise=True,
    ),
    form(
        ADDRESS,
        AHEAD,
        r"\b(?:parcel|package|order|it) (?:will|is going to) (?:go|ship|be (?:sent|delivered|shipped)) to "
        r"(?:the|your) new address\b",
        promise=True,
    ),
    form(
        EXCHANGE,
        AHEAD,
        rf"\b{_ONE}{_E}{{0,10}}?{_WILL}{_E}{{0,6}}?\b(?:be (?:sent|shipped|dispatched)|go out|ship|leave)\b",
        beside=_ENGLISH_DAY,
        promise=True,
    ),
    form(
        EXCHANGE,
        AHEAD,
        rf"\b(?:i|we|the warehouse)(?:'ll| will)(?: also| now)? (?:send|ship|dispatch|mail)\b{_E}{{0,16}}?\b{_ONE}",
        beside=_ENGLISH_DAY,
        promise=True,
    ),
    form(
        COMPENSATION,
        UNDER_WAY,
        r"\b(?:i|we)(?:'ll| will)(?: gladly| also| now)? (?:give|send|add|credit|grant|offer|put)\b"
        rf"{_E}{{0,30}}?\b{_VOUCHER}\b",
        promise=True,
    ),
)
