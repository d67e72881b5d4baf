"""What customers say, as patterns: complaints and wishes about goods, and topics of whole messages."""

import re
from enum import StrEnum
from typing import Final


class Intent(StrEnum):
    """What one clause says about goods."""

    DEFECTIVE = "defective"
    WRONG_ITEM = "wrong_item"
    NOT_ARRIVED = "not_arrived"
    DONT_WAIT = "dont_wait"
    LOST = "lost"
    CANCEL = "cancel"
    RETURN = "return"
    REFUND = "refund"
    EXCHANGE = "exchange"
    RESEND = "resend"
    CHANGED_MIND = "changed_mind"


class Topic(StrEnum):
    """What a whole message is about."""

    PERSON = "person"
    REFUND_STATUS = "refund_status"
    WHY = "why"
    TRACK = "track"
    ETA = "eta"
    ADDRESS = "address"
    COMPENSATION = "compensation"
    PRODUCTS = "products"
    MORE_MONEY = "more_money"
    NEVER_MIND = "never_mind"
    YES = "yes"
    GOODS_ASKED = "goods_asked"
    EXTRA = "extra"
    COMPLAINT = "complaint"
    WHO = "who"
    HELP = "help"
    THANKS = "thanks"
    GREETING = "greeting"
    BEYOND = "beyond"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


INTENTS: Final[dict[Intent, re.Pattern[str]]] = {
    Intent.DEFECTIVE: _any(
        r"壞|故障|瑕疵|沒有?聲音|無聲|不能用|沒(?:辦)?法(?:使)?用|無法使用|不會動|破|裂|斷|刮傷|刮痕|漏水|充不了電|充不進|不能充電?",
        r"沒反應|接觸不良|雜音|有問題|異常|當機|不亮|損壞|毀損|掉漆|開不了機|連不上",
        r"\bbroken?\b|\bdefect|\bfaulty|\bno sound|n'?t work|\bnot work|stopped working|\bdamaged|\bcracked",
        r"(?:won'?t|does ?n[o']t|cannot|can'?t) (?:turn on|charge|start|connect|work|switch on)|\bdead\b|\bmalfunction",
        r"空盒|是空的|充電很慢|斷線|閃退",
        r"\bsilent\b|\bcrackl|\bscratched|\btorn\b|\bleak|\bno audio",
    ),
    Intent.WRONG_ITEM: _any(
        r"(?:寄|送)錯(?!地|人)|發錯|給錯|出錯貨|不是我[買訂要]的|別人的(?:東西|包裹|商品|貨)|(?:顏色|尺寸|款式|型號)不對",
        r"跟(?:我)?(?:訂|買|照片|圖片|圖|網頁|網站|描述|說明)(?:上|裡|說|寫|顯示)?的?(?:不一樣|不同|不符|有差)",
        r"\bwrong (?:item|one|colou?r|size|product|model|thing)|not what i ordered",
    ),
    Intent.NOT_ARRIVED: _any(
        r"(?:還沒|還未|尚未|沒有|一直沒|沒|未)有?(?:收到|拿到|寄到|寄出|到貨|送到|送來|出貨|寄來|寄|到|來)(?!過|底)",
        r"少[寄給送]|漏寄|缺件|少了[一二兩三四五1-9]?[個件副支條組盒]|沒(?:有|任何)?(?:消息|下文|動靜|著落)|遲遲|沒有?附",
        r"(?:has|have|is|did|was|were|had) ?n[o']t (?:yet )?(?:been )?"
        r"(?:arrived?|shipped?|come|delivered|sent|received?|got(?:ten)?|here)",
        r"\bnever (?:arrived|came|received|got)|still (?:waiting|not here|hasn'?t)",
        r"not (?:yet )?(?:arrived|shipped|here)",
    ),
    Intent.DONT_WAIT: _any(
        r"不想再?等|不要再?等|不等了|等不及|等太久|等很久|等了.{0,5}(?:天|週|周|禮拜|星期|月|久)|太慢|懶得等",
        r"(?:do ?n[o']t|no longer|not|never) (?:want|wish|going|willing) to (?:keep )?wait|(?:can'?t|cannot) wait",
        r"\b(?:takes?|taking|took) (?:too|so) long|tired of waiting|\btoo slow|rather not wait|not wait any",
    ),
    Intent.LOST: _any(r"弄丟|遺失|寄丟|搞丟|不見了|丟件|丟了|找不到.{0,4}(?:包裹|貨|件)", r"\blost\b|\bmissing\b"),
    Intent.CANCEL: _any(
        r"取消|不訂了|不買了|不想買|退訂|拿掉|刪掉|移除", r"\bcancel|\bremove\b.{0,30}\border\b|\bcall off\b"
    ),
    Intent.RETURN: _any(
        r"退貨|退回|寄回|退還|退掉|全退|[想要可能都]以?退(?!款|錢|費)|退\s*(?:[一二兩三四五六七八九十]|\d{1,2}(?!\d))",
        r"\breturn(?:ing)?\b|send (?:\S+ ){1,4}back",
    ),
    Intent.REFUND: _any(r"退款|退錢|退費|還我錢|還錢|退(?:給|還)?我", r"\brefund|money back|\breimburse"),
    Intent.EXCHANGE: _any(
        r"換貨|(?<!不)[想要能以]換|換新|更換|換(?:一|個|成|別|其他|顏色|尺寸|款|型號)|換[兩二三四五六]|改成(?!退|取消|寄|送)",
        r"(?<!不)換[黑白紅藍綠粉灰銀金紫黃橘棕米]",
        r"\breplace|\bexchang|\bswap\b|a new one|(?:another|different) colou?r",
        r"\b(?:black|white|red|blue|green|pink|gr[ae]y|silver|gold|purple)\b.{0,8}\binstead\b",
        r"\b(?:prefer|rather have) (?:an? |the |it in )?(?:\w+ )?(?:black|white|red|blue|green|pink|gr[ae]y|silver)\b",
    ),
    Intent.RESEND: _any(
        r"重寄|重新(?:幫我)?(?:寄|送|出貨|配送)|再(?:幫我)?(?:寄|送)(?:一次|一個|一份|一副|一遍|給我)|補寄|重發|補發|再寄",
        r"\b(?:send|ship|deliver|post|mail) (?:it|them|this|these|that|me|the \w+|my \w+|another|a new one)?"
        r".{0,16}\b(?:again|once more|another|a new one)\b|\bre-?(?:send|ship)",
    ),
    Intent.CHANGED_MIND: _any(
        r"不想要|不要了|(?<=[^要])不要\s*$|不喜歡|後悔|用不到|不需要|買錯|買太多|多買|不合適|不適合|不滿意|不如預期|改變(?:了)?(?:主意|心意)",
        r"不舒服|不好用|難用|尺寸不合|不合身|太[大小](?!聲)|裝不[進下]|品質.{0,3}[差爛]|[訂下]錯|重複(?:下單|訂|買)|買貴",
        r"(?:能不能|可以|可不可以|可否|想)不要(?!換|退|取消|等|寄到|送到)|不(?:再)?需要",
        r"(?:do ?n[o']t|no longer|don’t) (?:want|like|need)(?! (?:to|an?|any) )|changed my mind|by mistake|n'?t fit",
        r"not what i expected|disappoint|uncomfortable|too (?:small|big|large|tight)|quality is (?:bad|poor|terrible)",
    ),
}

# "I don't want a return, I want …": what is ruled out says nothing about what is wanted.
RULED_OUT: Final = _any(
    r"(?:不要|不想要?|不用|不是要|不必|別|先不)(?:幫我)?(?:退貨|退款|退錢|換貨|換|取消|退)了?",
    r"(?:do ?n[o']t|don’t) (?:want|need) (?:to |an? |any )?(?:refund|return|exchange|replacement|cancel)\w*",
    r"\b(?:not|instead of) (?:an? )?(?:refund|return|exchange|replacement)\b|不(?:退|換|取消)",
    r"(?:沒有?|不是|並非)(?:壞|故障|瑕疵|問題)|(?:is ?n[o']t|not) (?:broken|defective|damaged|faulty)|nothing wrong",
)
ADDRESS_STAYS: Final = _any(
    r"(?:不用|不要|不必|先不|別)(?:再)?(?:改|換|更改)(?:寄|送)?.{0,4}地址了?|地址(?:是)?(?:沒錯|沒問題|對的|不用改|不改)了?",
    r"(?:do ?n[o']t|no need to) change (?:the |my )?address",
)
# "Change the address to …" is no wish about goods.
ABOUT_THE_ADDRESS: Final = _any(
    r"(?:地址|收件[人資]|收貨人|電話|手機號|門牌|樓層).{0,8}?(?:改|換|更換|更改)(?:成|為|一下|掉)?",
    r"(?:改|換|更換|更改)(?:成|為|個|一下)?.{0,6}?(?:地址|收件人|收貨人)|(?:改|換)成?\s*(?:寄|送)(?:到|去|給)?",
    r"改成\s*(?:\d{3,6}\s*)?[\u4e00-\u9fff]{2}[市縣]",
    r"(?:replace|exchange|swap) (?:the |my )?(?:\w+ )?address",
)

TOPICS: Final[dict[Topic, re.Pattern[str]]] = {
    Topic.PERSON: _any(
        r"真人|人工|(?:找|要|轉|請(?!問)|跟|叫|有).{0,4}(?:客服|專人|專員)|轉(?:給|接)|(?:主管|經理|店長|老闆).{0,6}(?:講|說|談|聊|出來|處理)",
        r"(?:找|叫|請)(?:你們)?(?:的)?(?:主管|經理|店長|老闆)|(?:跟|找)(?:真|活|你們的)?人(?:講|說|談|聊|來|處理|$)",
        r"(?:不要|不想|別).{0,4}(?:機器人|AI|自動回覆)",
        r"\b(?:manager|supervisor)\b|^\s*(?:agent|operator|representative)\b",
        r"\bhuman\b|real person|talk to (?:a |some)|speak (?:to|with)",
        r"\b(?:an?|the|live) (?:agent|person|representative)\b|customer service",
    ),
    Topic.REFUND_STATUS: _any(
        r"退款.{0,2}(?:進度|狀態|到了|下來|何時|什麼時候|了嗎|好了(?=嗎|沒|[?？])|紀錄|多久)|什麼時候.{0,5}(?:退款|退錢|入帳)",
        r"退款(?!會|要).{0,3}[到在去]哪|(?:錢|款項?)(?:已經|到底)?(?:有沒有|是不是)?(?:已經)?退(?:回來?|還|給我)?了?(?:嗎|沒|[?？])|(?<![能想以要法可])退了(?:嗎|沒)",
        r"(?<![貨會要能可以])退到(?:哪|誰)|退款.{0,4}(?:完成|成功|辦好|處理好|收到)了?(?:嗎|沒|[?？])",
        r"(?:有沒有|是否)(?:已經?|真的|幫我|給我)?退(?:款|錢)",
        r"(?:退|換)貨(?:單號|編號|進度|狀態)|(?:退|換)貨.{0,4}(?:寄|送)[到去]?哪",
        r"where .{0,20}send .{0,12}(?:return|back)",
        r"退款呢|(?:錢|款).{0,4}(?:還沒|沒有?|未).{0,3}(?:退|收到|入帳|進來|下來|回來)|還沒.{0,3}退(?:款|錢)",
        r"(?:錢|款項).{0,6}(?:什麼時候|何時|到了|入帳|進來|在哪|哪裡)|(?:什麼時候|何時).{0,6}(?:錢|款項)",
        r"(?:has|was|is|have) (?:it|this|that|my \w+|the \w+|you|i|the shop)(?: been| already)* refunded",
        r"did you refund|(?:news|update) (?:on|about) my refund|where did (?:my|the) (?:refund|money)",
        r"refund status|status of (?:my|the) refund|where(?:'s| is) my (?:refund|money)|has my refund",
        r"when (?:will|do|can) i (?:get|receive|see) (?:my|the) (?:refund|money)",
    ),
    Topic.WHY: _any(
        r"(?:為什麼|為何)(?!.{0,4}不[能可]).{0,8}(?:\d|退|算|金額|錢|少|只)|怎麼(?:只|才|會是|算|少)|如何計算|怎麼來的|(?:\d|金額).{0,6}(?:為什麼|怎麼)",
        r"(?:why|how come).{0,24}(?:\d|refund|amount|only|less|much|deduct)",
        r"how .{0,20}(?:calculat|work(?:ed)? out|comput)",
    ),
    Topic.TRACK: _any(
        r"到哪|(?<!差)在哪|哪裡了|物流|配送(?:進度|狀態)|貨況|追蹤|查件|(?:什麼時候|何時|多久)(?:會|才會|可以|才)?(?:到|寄|出貨|送|收到)",
        r"(?:出貨|寄出|寄|到貨)了(?:嗎|沒)|包裹|(?:東西|貨|商品|訂單)呢|單號|貨運|快遞|司機",
        r"(?:訂單|處理|出貨|目前)(?:的|現在)?(?:進度|狀態|狀況|情況)|訂單.{0,6}(?:怎麼樣|如何)",
        r"(?:今天|今日|明天|明日|後天|(?:週|周|星期|禮拜)[一二三四五六日天]|\d+[號日]).{0,4}(?:出貨|寄出|寄得)",
        r"where(?:'s| is| are| was)\b|\btrack|\bparcel|delivery status|shipping status|when (?:will|does|do|is) .{0,40}"
        r"(?:arriv|ship|com(?:e|ing)|deliver|get here)|has .{0,30}shipped|shipped yet",
        r"\bstatus of (?:my|the) order|order status|how is my order",
    ),
    Topic.ETA: _any(
        r"(?:什麼時候|何時|多久|幾天|幾號|幾點|哪天|哪一天).{0,6}(?:到|送|收到|拿到|來)|預計.{0,6}(?:到|送達)",
        r"(?:今天|今日|明天|明日|後天|(?:週|周|星期|禮拜)[一二三四五六日天]|\d+[號日]).{0,5}(?:到(?!貨|了(?![嗎沒]))|送[到達]|收得?到(?![了的貨後時]))",
        r"(?<!指定)到貨日|(?:可以|能|能不能).{0,3}(?:快一?點|加急|趕一下)",
        r"\b(?:be here|arrive|get it|come) (?:by|on|before|tomorrow|today)\b",
        r"when (?:will|does|do|is|can|would|should) .{0,40}(?:arriv|com(?:e|ing)|deliver|get here|get it|receive)",
        r"how long .{0,30}(?:take|arriv|deliver)|estimated|\beta\b|delivery date",
    ),
    Topic.ADDRESS: _any(
        r"改成?\s*(?:寄|送)(?:到|去|至)?|(?:寄|送)(?:到|去)(?:別|另|新|其他|我?(?:公司|家|學校|老家|宿舍|朋友))",
        r"(?:改|換|更改|修改|變更|更新).{0,6}(?:地址|收件|收貨|寄送|送貨|電話|手機號)|改成\s*(?:\d{3,6}\s*)?[\u4e00-\u9fff]{2}[市縣]",
        r"(?:地址|收件[人資]|收貨人|電話|手機號|門牌|樓層).{0,8}(?:改|錯|換(?!貨|新)|變(?!成)|忘)|錯.{0,3}地[址方]|新地址|搬家",
        r"\b(?:change|update|correct|wrong|new|different|another)\b .{0,24}\b(?:address|place|location)\b",
        r"\b(?:change|update|correct|wrong) .{0,12}\b(?:phone|recipient)\b|\bi(?:'ve| have)? moved\b",
        r"address .{0,16}(?:changed|wrong|incorrect)",
        r"(?:send|ship|deliver|redirect) (?:it|them|this|everything|the \w+|my \w+) to\b",
    ),
    Topic.COMPENSATION: _any(
        r"補償|賠償|賠我|賠個|賠點|補貼|補我\s*[\d一二兩三四五六七八九百千]",
        r"\bcompensat|goodwill|make (?:it|this) up to me|for (?:the|my) (?:trouble|hassle)",
    ),
    Topic.PRODUCTS: _any(
        r"(?:你們|店裡|還|有沒有|是否)(?:有沒有|有|賣)?.{0,4}(?:賣|在賣|現貨|庫存|存貨)|有(?:現)?貨|多少錢|你們(?:還)?有|有沒有.{1,12}的",
        r"規格|材質|相容",
        r"do you (?:also )?(?:have|sell|carry|stock|offer)|\bin stock\b|how much (?:is|are|does|do)\b|\bprice of\b"
        r"|\bspecs?\b|compatible",
    ),
    Topic.GOODS_ASKED: _any(
        r"有(?!在|人|收|寄|出|到|問題|退|辦法|可能|機會|幫|沒有).{1,10}(?:嗎|[?？])|還有嗎|推薦|想買|想再買|[幾哪]種|哪些",
        r"什麼顏色|防水|支援|適用|可以用在|幾(?:公尺|公分|米|吋|小時|公克|公斤)|多[長重]|差在哪|差別|有什麼不同",
        r"^\s*any (?!news|update|idea)\w+\b.{0,30}\?|\brecommend|what colou?rs|waterproof",
        r"(?:what|which) (?:other )?products|\bdo you make\b",
    ),
    Topic.EXTRA: _any(
        r"退(?:我|還)?運費|運費.{0,4}退|差價|價差|折抵|優惠|折價券|折扣(?!碼)|降價|便宜.{0,3}(?:給|算)",
        r"\bdiscount|price (?:drop|difference|match)|shipping (?:fee|cost) back",
    ),
    Topic.COMPLAINT: _any(
        r"客訴|投訴|抱怨|申訴|消保|服務.{0,4}[差爛糟]|態度.{0,4}[差爛糟]|太(?:誇張|扯|離譜|爛)了?",
        r"\bcomplain|\bterrible|\bawful|\bridiculous|\bunacceptable",
    ),
    Topic.WHO: _any(
        r"你是(?:真人|機器人|AI|誰|人)|是(?:真人|機器人|AI)嗎",
        r"are you (?:an? )?(?:bot|robot|human|ai|real|person|machine)|who are you|am i talking to",
    ),
    Topic.HELP: _any(
        r"(?:你)?(?:可以|能|會)(?:做|幫)(?:我)?(?:什麼|哪些)|有(?:什麼|哪些)功能|^\s*(?:請)?幫(?:幫)?我\s*$",
        r"what can you do|how can you help|^\s*help(?: me)?(?: please)?\W*$",
    ),
    Topic.MORE_MONEY: _any(
        r"(?:退|賠|補償|補|給我).{0,10}?(?:NT\$|\$)?\s*(?<!\d)(?!09)\d[\d,]{2,6}(?!\d)\s*(?:元|塊)?|多退|退多一?點|太少|不夠|全額退",
        r"(?:refund|give|pay|compensate|send) .{0,14}?(?:NT\$|\$)?\s*\d[\d,]{2,}|more money|not enough|full refund",
    ),
    Topic.NEVER_MIND: _any(
        r"^\s*(?:算了|沒事了?|不用了|先不用|先不要了?|不退了|不取消了|不換了)",
        r"^\s*(?:never ?mind|forget it|no,? thanks?)\b",
    ),
    Topic.YES: _any(
        r"^\s*(?:好的?|可以|對|是的?|沒問題|確認|同意|麻煩(?:您|你|了)?|那就這樣|要)[\s，,。！!啊喔呀吧了謝您你幫我請麻煩]*$",
        r"^\s*(?:ok(?:ay)?|yes|yep|yeah|sure|please(?: do)?|go ahead|confirm(?:ed)?|do it|sounds good)"
        r"[\s,.!]*(?:please)?[\s.!]*$",
    ),
    Topic.BEYOND: _any(
        r"發票|統編|電話|保固|折扣碼|會員|點數|LINE|聯絡|上班|營業|超商|取貨|自取|面交|分期|付款方式|指定.{0,4}(?:到貨|時間|日)",
        r"\binvoice|\bwarranty|\breceipt\b|\bphone number|\bcall me\b|pick(?:ed)? (?:it )?up|installments?",
    ),
    Topic.THANKS: _any(r"謝謝|感謝|謝啦|辛苦了", r"\bthank|\bthx\b|\bcheers\b"),
    Topic.GREETING: _any(
        r"^\s*(?:您好|你好|哈囉|嗨|安安|早安|午安|晚安|在嗎|有人在?嗎|請問$)",
        r"^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b",
    ),
}

# What may be said about anything.
SMALL_TALK: Final = frozenset(
    {Topic.YES, Topic.THANKS, Topic.GREETING, Topic.NEVER_MIND, Topic.MORE_MONEY, Topic.COMPLAINT, Topic.BEYOND}
)

EVERYTHING: Final = _any(
    r"(?:這|整)(?:張|筆|個)?(?:訂)?單.{0,4}(?:不要|取消|退|不需要)|(?:不要|不需要|不買).{0,3}這(?:張|筆)|[訂下]錯單|重複(?:下單|訂)",
    r"全部|整張|整筆|整單|所有|通通|統統|全退|全都|取消.{0,4}訂單|訂單.{0,3}取消",
    r"\beverything\b|\ball of (?:it|them)\b|(?:whole|entire) order|cancel (?:my|the|this) order|all (?:my )?items",
    r"(?:no longer|do ?n[o']t|don’t) (?:want|need) (?:my|the|this) order",
)
KEPT: Final = _any(r"留著|保留|留下|只留|只要留", r"\bkeep")
# "Keep the earphones, cancel the rest."
OTHERS: Final = _any(r"其他|其它|其餘|剩下|另外那|另一", r"\bthe (?:rest|others?)\b|everything else")
ALL_OF_THEM: Final = _any(r"都", r"\bboth\b|\ball\b|\bevery\b")
CLAUSE_END: Final = re.compile(
    r"[，。；！？,;!?\n…]|\.(?=\s|$)|而且|然後|但是|不過|還有|另外|以及|可是|\b(?:and|but|also|while|plus|then)\b",
    re.IGNORECASE,
)
# What stands after it comes in place of the goods before it.
INSTEAD: Final = re.compile(
    r"(?:換|改)(?:成|為)|\b(?:exchang\w*|swap\w*|replac\w*|switch\w*|trad\w*)\b.*?\b(?:for|with|into)\b", re.IGNORECASE
)
JOINS: Final = frozenset({"and", "plus", "還有", "以及"})

_NUMBERS: Final = {
    "一": 1, "二": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_COUNTED: Final = re.compile(
    r"(\d{1,3}|[一二兩三四五六七八九十])\s*(?:個|件|副|支|條|組|盒|台|臺|隻|雙|張|片|瓶|只|顆|本|包|份|套)(?!月|禮拜|星期|小時)"
    r"|\b(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten) (?:of|pieces?|pcs|units?)\b",
    re.IGNORECASE,
)
_BEFORE_GOODS: Final = re.compile(
    r"\b(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:(?!days?|weeks?|months?|hours?)[a-z-]+\s+){0,2}$",
    re.IGNORECASE,
)


def count_in(clause: str, goods_at: int | None) -> int | None:
    """How many the clause speaks of: a number with a measure word, or one right before the goods (English)."""
    found = _COUNTED.search(clause)
    if not found and goods_at is not None:
        found = _BEFORE_GOODS.search(clause[:goods_at])
    if not found:
        return None
    number = next(group for group in found.groups() if group).lower()
    return _NUMBERS.get(number) or int(number)


def intents_in(clause: str) -> frozenset[Intent]:
    left = ABOUT_THE_ADDRESS.sub(" ", RULED_OUT.sub(" ", clause))
    return frozenset(intent for intent, pattern in INTENTS.items() if pattern.search(left))


def topics_in(text: str) -> frozenset[Topic]:
    left = ADDRESS_STAYS.sub(" ", text)
    topics = frozenset(topic for topic, pattern in TOPICS.items() if pattern.search(left))
    return topics if left == text else topics | {Topic.NEVER_MIND}
