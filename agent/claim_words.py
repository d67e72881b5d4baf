"""The forms of words in which Chinese and English say that something has been done: patterns over one clause.

They are read by `agent/claims.py`, over text that it has smoothed: half width, lower case, Traditional characters, no
spaces between Chinese ones. A pattern says what was claimed and how far; whether the clause asserts it at all (and does
not ask, deny, quote or look ahead) is for the guards there.
"""

import re
from dataclasses import dataclass
from typing import Final

from agent.deeds import ADDRESS, CANCEL, COMPENSATION, EXCHANGE, HAND_OFF, REFUND, RESEND, RETURN, Kind, Reach

BEGUN, UNDER_WAY, DONE = Reach.BEGUN, Reach.UNDER_WAY, Reach.DONE


@dataclass(frozen=True, slots=True)
class Form:
    """One form of words. `promise`: it speaks of what will be, and is a claim all the same (“a colleague will come”)."""

    kind: Kind
    reach: Reach
    pattern: re.Pattern[str]
    promise: bool = False


def _form(kind: Kind, reach: Reach, pattern: str, *, promise: bool = False) -> Form:
    return Form(kind, reach, re.compile(pattern), promise)


# --- Chinese ---
_DONE = r"(?:已經|已|業已|剛剛|剛才|剛|成功|順利|全數|如數|完成了?)"
_OVER = r"(?:了|好|妥|完成|完畢|成功|囉|啦|嘍|完)"
_FOR = r"(?:幫|為|替|給|跟)(?:您|你|妳)"
# What may stand between the parts of a claim: nothing that denies it or makes it the object of another verb.
_T = (
    r"(?:(?!收到|看到|了解|知道|明白|理解|查到|查過|查詢|查看|記錄|紀錄|提到|說明|計算|試算|算好|算出|準備|超過|詢問|"
    r"符合|可以|能夠|無法|不能|沒|未(?!到)|不(?!良|見|同|合|新|必|用|需)|後|時|才|想(?!要的)|希望|需要|是否|(?<!申)請|同事|專員)[^,:。?!])"
)
_NOT_ABOUT = (
    r"(?!按鈕|卡片|選項|資格|條件|金額|明細|方案|規則|政策|需求|要求|請求|問題|期限|期間|說明|確認|意願|原因|試算|報價|"
    r"鑑賞|辦法|流程|標準|方式|時間|的(?:按鈕|選項|資格|條件|規則|需求|要求|問題|期限|說明|原因|方式))"
)
_MONEY = r"(?:款項?|錢|金額|費用|差額|價金|運費|[一二兩三四五六七八九十百千零]+(?:元|塊)錢?|(?:nt\$|us\$|\$)\d[\d,.]*元?|\d[\d,.]*(?:元|塊|圓))"
_BACK = r"(?:退款|退費|退錢|刷退|退刷|退到|退至|退給|退入|退進|退了|退(?=(?:nt|us)?\$|\d)|匯回|匯還|匯給|入帳|到帳|進帳|撥款|存回)"
_BACK_MONEY = r"(?:退還|退回|歸還|返還|打回|轉回|匯入|匯出|存入|撥|退)(?!貨|換|件|倉|的?(?:商品|貨|包裹|東西))"
_BEGIN = r"(?:申請|受理|送出|提交|安排|啟動|發起|辦理|處理|核准|批准|同意|登記|開始|建立|進行|成立|送件|進件|審核|通過|授權|排入)"
_PAID = r"(?:完成|成功|入帳|到帳|進帳|匯出|匯入|匯回|撥|處理好|處理完|辦好|辦妥|執行|生效|退|打回|打到|打進|回到|存入|轉入|轉回|發還|還給)"
_PARCEL_BACK = r"(?:退貨|退換貨)"
_SWAP = r"(?:退換貨|換貨|更換|換新|換一|換成|交換|換好)"
_AGAIN = r"(?:重新寄|重新出貨|重新配送|重新發貨|重新安排(?:寄送|出貨|配送)|補寄|重寄|再寄|補發|重發|補出貨|補送|重送|再出一|再補)"
_PLACE = r"(?:地址|收件|寄送地|寄送資|配送地|配送資|送貨地|送貨資|門市|取貨地|取貨店|電話|聯絡方式)"
_CHANGED = r"(?:更新|變更|修改|更改|更正|調整|改|換)"
_WHO = r"(?:真人|同事|同仁|客服(?!助理)|專員|專人|人員|主管|店長|人工|負責人|團隊|部門|經理|窗口|夥伴)"
_PASS = (
    r"(?:轉接|轉交|轉給|轉達|轉介|轉由|轉往|轉至|轉到|轉送|轉|通知|請|聯絡|聯繫|呼叫|安排|派|交由|交給|回報|反映|告知|知會|"
    r"移交|提交|送交|上報|通報|升級|找|叫|委請|邀請|指派)"
)
_GIFT = r"(?:補償|賠償|購物金|優惠券|折價券|折扣碼|點數|回饋金|慰問金|禮券|抵用券|紅利)"
_GRANT = r"(?:核准|批准|同意|通過|發放|發送|發給|提供|贈送|匯入|送|給|存入|加|匯|入帳|放|撥|發)"
_PROPOSE = r"(?:提出|提交|申請|轉達|轉交|轉給|送出|呈報|反映|回報|建議|送交|提報)"
_W = r"[^,:。?!]"

_CHINESE: Final = (
    # Money. What says less comes first: “已為您申請退款” is no “已退款”.
    _form(REFUND, BEGUN, rf"{_DONE}{_T}{{0,10}}{_BEGIN}{_T}{{0,14}}(?:退款|退費|刷退|退錢){_NOT_ABOUT}"),
    _form(REFUND, BEGUN, rf"(?:退款|退費|刷退|{_MONEY}){_T}{{0,14}}(?:{_DONE}|都|全部){_T}{{0,6}}{_BEGIN}(?!中)"),
    _form(REFUND, BEGUN, rf"(?:退款|退費|款項|{_MONEY}){_T}{{0,10}}(?:處理|進行|作業|審核|辦理)中"),
    _form(REFUND, BEGUN, rf"正在{_T}{{0,6}}(?:處理|辦理|進行){_T}{{0,8}}(?:退款|退費)"),
    _form(REFUND, UNDER_WAY, rf"正在{_T}{{0,6}}(?:退款|退費|退回|退還|匯回)"),
    _form(REFUND, UNDER_WAY, rf"(?:退款|{_MONEY}){_W}{{0,10}}(?:在路上|途中|退回中|匯款中|正在(?:退|匯|返))"),
    _form(REFUND, DONE, rf"{_DONE}{_T}{{0,16}}{_BACK}{_NOT_ABOUT}"),
    _form(REFUND, DONE, rf"{_DONE}{_T}{{0,10}}{_MONEY}{_T}{{0,10}}{_BACK_MONEY}"),
    _form(REFUND, DONE, rf"{_DONE}{_T}{{0,6}}{_BACK_MONEY}{_T}{{0,12}}(?:{_MONEY}|卡|帳戶|帳號|購物金|原付款)"),
    _form(REFUND, DONE, rf"(?:退款|退費|{_MONEY}){_T}{{0,16}}(?:{_DONE}|都|全部){_T}{{0,10}}{_PAID}"),
    _form(
        REFUND,
        DONE,
        r"(?:退款|退費|刷退)(?:申請|作業|手續|流程|程序)?(?:完成|成功|完畢|好了|完了|辦好|辦妥|搞定|處理好|處理完)",
    ),
    _form(
        REFUND,
        DONE,
        rf"{_FOR}{_T}{{0,18}}(?:退款|退費|退錢|刷退|退){_T}{{0,14}}(?:了|囉|啦|好了|完成|完畢)(?![^,]*[嗎呢])",
    ),
    _form(REFUND, DONE, rf"{_MONEY}{_T}{{0,10}}(?:退|匯|打|還|存|轉|撥)(?!貨){_T}{{0,12}}(?:了|囉|啦|完成|成功)"),
    _form(REFUND, DONE, rf"(?:您|你|帳戶|卡片){_T}{{0,6}}已經?{_T}{{0,4}}收到{_T}{{0,8}}(?:退款|款項|\d元)"),
    # Goods that will not be sent.
    _form(
        CANCEL, DONE, rf"{_DONE}{_T}{{0,14}}取消(?![^,並且和]{{0,8}}(?:申請|退款|退貨|換貨|確認|按鈕|操作|變更|請求))"
    ),
    _form(CANCEL, DONE, rf"{_FOR}{_T}{{0,12}}取消{_T}{{0,8}}(?:了|囉|好|完成|成功)"),
    _form(CANCEL, DONE, r"取消(?:完成|成功|完畢|好了|了[,。!]?$)"),
    # Goods that come back.
    _form(
        RETURN,
        UNDER_WAY,
        r"(?:已經|已|剛)(?:經)?(?:收到|簽收|驗收)[^,。]{0,8}退(?:回|貨|還)(?!的?(?:申請|要求|需求|請求))",
    ),
    _form(RETURN, BEGUN, rf"{_DONE}{_T}{{0,14}}{_PARCEL_BACK}{_NOT_ABOUT}"),
    _form(
        RETURN,
        BEGUN,
        rf"退換?貨{_T}{{0,12}}(?:{_DONE}|都){_T}{{0,8}}(?:{_BEGIN}|完成|辦好|辦妥|開立|收到|入庫|驗收|確認|搞定)",
    ),
    _form(RETURN, BEGUN, r"退換?貨(?:申請|單|手續|流程)?(?:成立|完成|成功|辦好|辦妥|受理了|核准|搞定|登記好)"),
    _form(RETURN, BEGUN, rf"{_FOR}{_T}{{0,12}}退換?貨{_T}{{0,8}}{_OVER}"),
    _form(
        RETURN, BEGUN, rf"{_FOR}{_T}{{0,8}}(?:辦|申請|安排|登記|處理|開|預約|約)(?:好|妥|了){_T}{{0,8}}(?:退貨|到府收)"
    ),
    _form(RETURN, BEGUN, rf"退換?貨{_T}{{0,8}}{_FOR}{_T}{{0,4}}(?:辦|申請|安排|登記|處理|開)(?:好|妥|完|了)"),
    _form(RETURN, BEGUN, rf"{_DONE}{_T}{{0,8}}(?:安排|預約|通知|約){_T}{{0,12}}(?:收件|取件|收貨|回收|到府)"),
    # Goods for goods.
    _form(
        EXCHANGE,
        DONE,
        rf"(?:新品|新的|替換品|換貨商品|全新|更換的){_T}{{0,10}}(?:已經?|剛){_T}{{0,6}}(?:寄出|出貨|寄送|發出|送出|配送|寄)",
    ),
    _form(
        EXCHANGE, DONE, rf"{_DONE}{_T}{{0,8}}(?:寄出|出貨|寄送|發出|寄){_T}{{0,8}}(?:新品|新的|替換品|換貨商品|全新)"
    ),
    _form(EXCHANGE, BEGUN, rf"{_DONE}{_T}{{0,16}}{_SWAP}{_NOT_ABOUT}"),
    _form(EXCHANGE, BEGUN, rf"換貨{_T}{{0,12}}(?:{_DONE}|都){_T}{{0,8}}(?:{_BEGIN}|完成|辦好|辦妥|開立|確認|搞定)"),
    _form(EXCHANGE, BEGUN, r"換貨(?:申請|單|手續|流程)?(?:成立|完成|成功|辦好|辦妥|受理了|核准|搞定|登記好)"),
    _form(EXCHANGE, BEGUN, rf"{_FOR}{_T}{{0,18}}(?:換貨|更換|換新|換成|換一|換){_T}{{0,14}}(?:了|好|妥|完成|完畢|囉)"),
    _form(EXCHANGE, BEGUN, rf"{_FOR}{_T}{{0,8}}(?:辦|申請|安排|登記|處理|開)(?:好|妥|了){_T}{{0,8}}換貨"),
    _form(EXCHANGE, BEGUN, rf"換貨{_T}{{0,8}}{_FOR}{_T}{{0,4}}(?:辦|申請|安排|登記|處理|開)(?:好|妥|完|了)"),
    # The same once more.
    _form(RESEND, BEGUN, rf"{_DONE}{_T}{{0,10}}(?:安排|申請|登記|建立|受理|通知|處理|排){_T}{{0,12}}{_AGAIN}"),
    _form(RESEND, DONE, rf"{_DONE}{_T}{{0,12}}{_AGAIN}{_T}{{0,6}}(?:出|送出|出去|走)"),
    _form(RESEND, DONE, rf"{_AGAIN}{_T}{{0,10}}(?:{_DONE}|都){_T}{{0,6}}(?:寄出|出貨|送出|上路|出發)"),
    _form(RESEND, BEGUN, rf"{_DONE}{_T}{{0,14}}{_AGAIN}"),
    _form(RESEND, BEGUN, rf"{_AGAIN}{_T}{{0,10}}(?:{_DONE}|都){_T}{{0,6}}(?:{_BEGIN}|完成|排好|辦好)"),
    _form(RESEND, BEGUN, rf"{_FOR}{_T}{{0,12}}{_AGAIN}{_T}{{0,10}}(?:了|好|妥|完成|囉)"),
    _form(RESEND, BEGUN, rf"{_FOR}{_T}{{0,8}}(?:安排|處理|申請)(?:好|妥|了){_T}{{0,8}}{_AGAIN}"),
    _form(RESEND, BEGUN, rf"{_AGAIN}{_T}{{0,8}}(?:成立|安排好|辦好|好了|完成)"),
    # Where it goes.
    _form(ADDRESS, DONE, rf"{_PLACE}{_T}{{0,16}}(?:{_DONE}|都){_T}{{0,10}}(?:{_CHANGED}|登記|生效)"),
    _form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,14}}{_CHANGED}{_T}{{0,10}}{_PLACE}"),
    _form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,8}}把?{_T}{{0,10}}{_PLACE}{_T}{{0,8}}{_CHANGED}"),
    _form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,8}}改(?:寄|送|配|投|為寄|成寄)"),
    _form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,4}}{_CHANGED}(?:好|完成|妥)"),
    _form(ADDRESS, DONE, rf"{_PLACE}{_T}{{0,10}}{_CHANGED}(?:好|妥|完成|成功|完畢|完了)"),
    _form(ADDRESS, DONE, rf"{_PLACE}{_T}{{0,10}}{_CHANGED}{_W}{{1,24}}(?:了|囉|啦)$"),
    _form(ADDRESS, DONE, rf"{_FOR}{_T}{{0,10}}{_CHANGED}{_T}{{0,6}}{_PLACE}{_T}{{0,4}}(?:了|囉|啦)"),
    # Somebody of the shop.
    _form(HAND_OFF, BEGUN, rf"{_DONE}{_W}{{0,14}}{_PASS}{_W}{{0,14}}{_WHO}"),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"{_WHO}{_T}{{0,8}}(?:已經?|正在|剛){_T}{{0,10}}(?:接手|收到|接管|處理|加入|在線|協助|接到|介入|受理|上線|開始|接過|看)",
    ),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"{_FOR}{_T}{{0,6}}(?:轉接|轉給|轉交|轉到|轉至|呼叫|找來|叫來|請來|通知){_W}{{0,10}}{_WHO}",
    ),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"我(?:先|就|馬上|立刻|這就|現在|直接)?(?:請|讓|叫|找|通知|交給){_W}{{0,8}}{_WHO}{_W}{{0,10}}(?:接手|來|協助|處理|聯絡|回覆|幫)",
    ),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"(?:正在|馬上|立刻|現在){_T}{{0,6}}(?:轉接|呼叫|轉給|轉交|請|通知|聯絡){_W}{{0,10}}{_WHO}",
    ),
    _form(HAND_OFF, UNDER_WAY, rf"(?:轉接|轉給|轉交){_W}{{0,6}}{_WHO}{_W}{{0,4}}(?:了|囉|完成|中|成功)"),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"{_WHO}{_T}{{0,8}}(?:會|將|稍後|很快|馬上|隨後|等等|等一下|待會|儘快|盡快){_W}{{0,14}}"
        r"(?:回覆|聯絡|聯繫|接手|跟進|致電|打電話|打給|與您|跟您|回電|為您|協助|來|加入)",
        promise=True,
    ),
    # Something for the trouble.
    _form(COMPENSATION, BEGUN, rf"{_DONE}{_T}{{0,14}}{_PROPOSE}{_W}{{0,16}}{_GIFT}"),
    _form(COMPENSATION, BEGUN, rf"{_GIFT}{_W}{{0,18}}(?:{_DONE}|都){_W}{{0,8}}{_PROPOSE}"),
    _form(COMPENSATION, BEGUN, rf"(?:{_FOR}|{_DONE}){_W}{{0,10}}把{_W}{{0,8}}{_GIFT}{_W}{{0,10}}{_PROPOSE}"),
    _form(COMPENSATION, UNDER_WAY, rf"{_DONE}{_T}{{0,14}}{_GRANT}{_W}{{0,16}}{_GIFT}"),
    _form(COMPENSATION, UNDER_WAY, rf"{_GIFT}{_T}{{0,18}}(?:{_DONE}|都){_T}{{0,10}}{_GRANT}"),
    _form(COMPENSATION, UNDER_WAY, rf"{_DONE}{_T}{{0,6}}(?:補償|賠償|賠){_NOT_ABOUT}"),
    _form(
        COMPENSATION,
        UNDER_WAY,
        rf"{_FOR}{_T}{{0,14}}(?:加|送|發|給|申請|爭取|補|補償|賠){_W}{{0,14}}(?:{_GIFT})?{_W}{{0,8}}{_GIFT}{_W}{{0,6}}(?:了|囉|好|到)",
    ),
    _form(COMPENSATION, UNDER_WAY, rf"(?:送|贈送|補償|補貼|賠)(?:給)?(?:您|你){_W}{{0,12}}(?:{_GIFT}|nt\$\d|\d+元)"),
)

# --- English ---
_ADV = (
    r"(?:\s+(?:now|already|just|also|successfully|fully|completely|gone|went|ahead|and|been|both|all|recently|then|"
    r"all|today|officially|finally|indeed|safely))*"
)
_I = rf"\b(?:i|we|our team|the shop|the system)(?:'ve|'d|\s+have|\s+had|\s+has)?{_ADV}\s+"
_IS = rf"(?:\b(?:has|have|had|was|were|is|are|been|got)|'s|'ve){_ADV}\s+"
_E = r"[^,;:.?!]"
_SUM = r"(?:(?:nt|us)?\$\s?\d[\d,.]*|\d[\d,.]*\s?(?:ntd|twd|dollars))"
_CASH = rf"(?:{_SUM}|money|funds?|amount|payment|cash|balance|full price)"
_STARTED = (
    r"(?:initiated|submitted|requested|started|filed|raised|begun|arranged|set up|opened|placed|queued|lodged|logged|"
    r"registered|created|accepted|entered|recorded|put in|scheduled|received)"
)
_SENT = r"(?:issued|processed|made|sent|executed|put through|approved|granted|pushed through|triggered|authori[sz]ed|released|handled)"
_MADE = (
    r"(?:registered|created|opened|approved|set up|arranged|started|accepted|confirmed|processed|submitted|booked|logged|"
    r"filed|requested|initiated|issued|scheduled|placed|raised|authori[sz]ed|made|put in|put through|completed?|done|sorted|"
    r"in progress|under way|underway|on file|open|all set|in place|organi[sz]ed|recorded|entered|finali[sz]ed)"
)
_SHIPPED = r"(?:sent|shipped|dispatched|mailed|posted|handed to the carrier|on (?:its|the) way|en route|in transit|out for delivery)"
_SOMEBODY = (
    r"(?:colleagues?|humans?|person|people|agent|team|supervisor|manager|staff|representative|rep|specialist|someone|"
    r"warehouse|department|operator|member|coworker|associate|support)"
)
_TOLD = (
    r"(?:asked|called|notified|informed|contacted|alerted|told|handed|passed|transferred|forwarded|escalated|connected|"
    r"referred|looped|assigned|flagged|brought|messaged|paged|pinged|requested|reported|routed|summoned|reached out|put|let)"
)
_EDITED = r"(?:updated|changed|corrected|modified|replaced|edited|amended|switched|fixed|saved|set|moved|adjusted)"
_WHERE = r"(?:address|delivery details|shipping details|delivery information|recipient|phone number|pick-?up store|destination)"
_GOODWILL = r"(?:compensation|goodwill|voucher|coupon|store credit|discount code|gift card|bonus points|points|credit(?! card))"

_ENGLISH: Final = (
    _form(REFUND, BEGUN, rf"{_I}{_STARTED}\b{_E}{{0,40}}\brefund\b(?! (?:request|quote|button|card|options?))"),
    _form(REFUND, BEGUN, rf"\brefund\b{_E}{{0,40}}?{_IS}(?:being )?{_STARTED}\b"),
    _form(
        REFUND,
        BEGUN,
        rf"\brefund\b{_E}{{0,30}}?{_IS}(?:being (?:processed|sent|issued)|in progress|under ?way|in process)",
    ),
    _form(REFUND, UNDER_WAY, rf"{_I}{_SENT}\b{_E}{{0,40}}\brefund\b(?! (?:request|quote|button|card|options?))"),
    _form(
        REFUND,
        UNDER_WAY,
        rf"\brefund\b{_E}{{0,40}}?{_IS}(?:{_SENT}|on (?:its|the) way|in transit|approved|with your bank)\b",
    ),
    _form(
        REFUND,
        UNDER_WAY,
        rf"\b{_CASH}\b{_E}{{0,40}}?(?:\b(?:is|are)|'s){_ADV}\s+(?:on (?:its|the) way\b(?! from)|heading|going back|being (?:sent|returned|refunded|transferred))",
    ),
    _form(REFUND, UNDER_WAY, rf"{_SUM}{_E}{{0,20}}\bon (?:its|the) way (?:back )?to\b"),
    _form(REFUND, DONE, rf"{_I}(?:refunded|reimbursed|repaid|paid (?:you )?back|credited)\b"),
    _form(REFUND, DONE, rf"{_IS}(?:refunded|reimbursed|repaid|paid back)\b"),
    _form(
        REFUND,
        DONE,
        rf"\b{_CASH}\b{_E}{{0,30}}?{_IS}(?:credited|returned|sent back|transferred|put back|given back|back (?:on|in|to|with)|in your account|on your card|paid|arrived|landed|deposited|posted|reached)\b",
    ),
    _form(
        REFUND,
        DONE,
        rf"{_I}(?:sent|returned|transferred|wired|put|moved|given|paid|gave|credited)\b{_E}{{0,30}}\b{_CASH}\b{_E}{{0,30}}\b(?:back|to your|onto your|on your)\b",
    ),
    _form(REFUND, DONE, rf"{_I}(?:completed|finali[sz]ed|finished|done|given you)\b{_E}{{0,30}}\brefund\b"),
    _form(
        REFUND,
        DONE,
        rf"\brefund\b{_E}{{0,40}}?{_IS}(?:completed?|done|paid(?: out)?|finali[sz]ed|credited|successful|through|in your account|on your card|settled|finished|back on)\b",
    ),
    _form(REFUND, DONE, r"\brefund\b[^,;:.?!]{0,30}\b(?:went|came|gone) through\b"),
    _form(
        REFUND,
        DONE,
        rf"^\W*(?:your |the |full |a |{_SUM} )*refund{_E}{{0,30}} (?:complete|completed|issued|processed|sent|confirmed|done|successful)\b",
    ),
    _form(REFUND, DONE, r"^\W*(?:done\W*|all set\W*|good news\W*|ok(?:ay)?\W*)?(?:i |successfully |and )?refunded\b"),
    _form(
        REFUND,
        DONE,
        rf"\b(?:you|you've|you have){_ADV} (?:got(?:ten)?|received|have)\b{_E}{{0,12}}(?:money back|\brefund\b(?! request))",
    ),
    _form(CANCEL, DONE, rf"(?:{_I}|{_IS})cancell?ed\b(?! (?:the|your|this) (?:request|refund|exchange|return|card))"),
    _form(CANCEL, DONE, rf"\bcancellation\b{_E}{{0,20}}?{_IS}(?:complete|completed|done|confirmed|processed)\b"),
    _form(
        RETURN,
        UNDER_WAY,
        rf"\b(?:we|i|the warehouse|our warehouse)(?:'ve|'s| have| has)?{_ADV} (?:received|got)\b{_E}{{0,25}}\b(?:return|returned|sent back)\b(?! request)",
    ),
    _form(RETURN, BEGUN, rf"{_I}{_MADE}\b{_E}{{0,40}}\breturn\b(?! (?:window|policy|period|button|request form))"),
    _form(RETURN, BEGUN, rf"\breturn\b{_E}{{0,40}}?{_IS}(?:being )?{_MADE}\b"),
    _form(RETURN, BEGUN, rf"{_I}(?:sent|emailed|mailed|generated|created)\b{_E}{{0,20}}\breturn label\b"),
    _form(
        RETURN,
        BEGUN,
        rf"(?:{_I}{_MADE}\b{_E}{{0,30}}\b(?:pick-?up|collection|courier)\b|\b(?:pick-?up|collection|courier)\b{_E}{{0,30}}?{_IS}{_MADE}\b)",
    ),
    _form(
        EXCHANGE,
        DONE,
        rf"\b(?:replacement|new (?:one|pair|item|unit|earphones|headphones|case))\b{_E}{{0,30}}?{_IS}(?:being )?{_SHIPPED}",
    ),
    _form(EXCHANGE, DONE, rf"{_I}{_SHIPPED}\b{_E}{{0,25}}\b(?:replacement|new (?:one|pair|item|unit))\b"),
    _form(EXCHANGE, BEGUN, rf"(?:{_I}|{_IS})(?:exchanged|swapped|replaced)\b"),
    _form(EXCHANGE, BEGUN, rf"{_I}{_MADE}\b{_E}{{0,40}}\b(?:exchange|swap|replacement)\b"),
    _form(
        EXCHANGE,
        BEGUN,
        rf"\b(?:exchange|swap|replacement)\b{_E}{{0,40}}?{_IS}(?:being )?(?:{_MADE}|ordered|reserved)\b",
    ),
    _form(
        RESEND,
        BEGUN,
        rf"{_I}(?:arranged|scheduled|set up|ordered|organi[sz]ed|requested|asked)\b{_E}{{0,40}}\b(?:resent|re-sent|reshipped|re-shipped|sent (?:out )?again|shipped again|reshipment|redelivery|resend)\b",
    ),
    _form(RESEND, DONE, rf"(?:{_I}|{_IS})(?:resent|re-sent|reshipped|re-shipped|redelivered|re-dispatched)\b"),
    _form(
        RESEND,
        DONE,
        rf"(?:{_I}|{_IS})(?:sent|shipped|dispatched|mailed)\b{_E}{{0,30}}\b(?:again|once more|a second time|another)\b",
    ),
    _form(RESEND, BEGUN, rf"{_IS}(?:being )?(?:sent|shipped|mailed)\b{_E}{{0,20}}\bagain\b"),
    _form(
        RESEND,
        DONE,
        rf"\b(?:another|second|new|fresh) (?:parcel|package|shipment|box|copy)\b{_E}{{0,30}}?{_IS}(?:being )?{_SHIPPED}",
    ),
    _form(
        RESEND,
        DONE,
        rf"{_I}{_SHIPPED}\b{_E}{{0,20}}\b(?:another|second|new|fresh) (?:parcel|package|shipment|box|copy)\b",
    ),
    _form(RESEND, BEGUN, rf"\b(?:reshipment|re-shipment|resend|redelivery)\b{_E}{{0,30}}?{_IS}(?:being )?{_MADE}\b"),
    _form(ADDRESS, DONE, rf"{_I}{_EDITED}\b{_E}{{0,40}}\b{_WHERE}\b"),
    _form(ADDRESS, DONE, rf"\b{_WHERE}\b{_E}{{0,40}}?{_IS}(?:being )?{_EDITED}\b"),
    _form(ADDRESS, DONE, rf"\b{_WHERE}\b (?:updated|changed|corrected)\b"),
    _form(ADDRESS, DONE, rf"(?:{_I}|{_IS})(?:redirected|rerouted|re-routed|diverted)\b"),
    _form(HAND_OFF, BEGUN, rf"{_I}{_TOLD}\b{_E}{{0,50}}\b{_SOMEBODY}\b"),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"\b(?:i'm|we're|i am|we are){_ADV} (?:asking|handing|passing|transferring|forwarding|escalating|connecting|getting|calling|bringing|putting|notifying|routing|looping)\b{_E}{{0,50}}\b(?:{_SOMEBODY}|through)\b",
    ),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"\b{_SOMEBODY}\b{_E}{{0,25}}?{_IS}(?:being )?(?:{_TOLD}|on it|on the case|on (?:the|their) way|taking over|looking into|joining|handling|reviewing|aware|working on|connected)\b",
    ),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"\byou(?:'re| are|'ve| have)(?: been| being)?{_ADV} (?:transferred|connected|handed|passed|put through)\b",
    ),
    _form(
        HAND_OFF,
        BEGUN,
        rf"{_IS}(?:being )?(?:handed|passed|forwarded|escalated|transferred|referred|flagged|assigned|routed)\b{_E}{{0,30}}\b{_SOMEBODY}\b",
    ),
    _form(
        HAND_OFF,
        UNDER_WAY,
        rf"\b{_SOMEBODY}\b{_E}{{0,20}}?(?:\bwill\b|'ll\b|\bis going to\b) (?:\w+ ){{0,2}}?(?:answer|reply|contact|reach|take over|get back|"
        r"be with|join|call|follow up|handle|be in touch|respond|email|get in touch|write|help|assist|see to)",
        promise=True,
    ),
    _form(
        COMPENSATION,
        BEGUN,
        rf"{_I}(?:proposed|submitted|requested|passed|forwarded|put in|filed|asked|suggested|recommended)\b{_E}{{0,50}}\b{_GOODWILL}\b",
    ),
    _form(
        COMPENSATION,
        BEGUN,
        rf"\b{_GOODWILL}\b{_E}{{0,40}}?{_IS}(?:being )?(?:submitted|passed on|proposed|requested|forwarded|put forward)\b",
    ),
    _form(
        COMPENSATION,
        UNDER_WAY,
        rf"{_I}(?:approved|granted|issued|added|given|gave|applied|sent|credited|arranged|awarded|paid)\b{_E}{{0,50}}\b{_GOODWILL}\b",
    ),
    _form(
        COMPENSATION,
        UNDER_WAY,
        rf"\b{_GOODWILL}\b{_E}{{0,40}}?{_IS}(?:being )?(?:approved|granted|issued|added|credited|applied|paid|sent|awarded|agreed)\b",
    ),
    _form(COMPENSATION, UNDER_WAY, rf"(?:{_I}|{_IS})compensated\b"),
)

FORMS: Final = (*_CHINESE, *_ENGLISH)
