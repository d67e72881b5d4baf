"""What is said and yet not asserted: questions, conditions, quotations, rules of the shop, denials, what is to come.

Patterns over a smoothed clause (`agent/claim_text.py`). They are what keeps “once you press, NT$230 is refunded” from
being taken for “NT$230 is refunded”.
"""

import re
from typing import Final

ASKS: Final = re.compile(
    r"嗎|呢$|是否|與否|能否|有沒有|是不是|請問|"
    r"^(?:and |so |or )?(?:has|have|had|did|do|does|is|are|was|were|will|would|could|can|shall|should|may|when|what|"
    r"which|why|how|who)\b"
)
# From here on to the end of the sentence, unless somebody says what they have done already (`RESUMES`).
SUPPOSES: Final = re.compile(
    # Not where it only says how to see it: “if you look at your statement, ...”.
    r"(?:如果|若(?!干))(?!(?:您|你)?(?:去|想|要)?(?:查看?|查詢|查一下|看|看一下|打開)[^,]{0,6}(?:帳單|帳戶|明細|紀錄)$)|"
    r"假如|假設|要是|倘若|一旦|只要|只有|除非|萬一|無論|不論|等到|等您|等我們|等商品|直到|的話|例如|"
    r"比如|比方|要先|必須先|當(?!初|時|天|日|然)|"
    r"\b(?:if(?! you (?:look at|check|open) (?:your|the) [a-z ]+$)|once(?! more| again)|when|whenever|until|unless|"
    r"before|as soon as|as long as|whether|in case|suppose|provided|should you|only after|for example|"
    r"after (?:you|we|the|your|it|they))\b"
)
# What somebody else says, or what has become of somebody else's order.
QUOTES: Final = re.compile(
    r"(?:您|你們?|顧客|客人|對方|他們?|她)(?:剛才|剛剛|之前|先前|上次|前面|有|也|一直)?"
    r"(?:說|提到|提及|表示|寫|認為|以為|覺得|聲稱|反映|問)(?!的|明)|意思是|"
    r"(?:朋友|家人|別人|其他(?:顧客|客人|人))的|別的訂單|另一(?:筆|張)訂單|"
    r"\b(?:your friend(?:'s)?|another order|other (?:customers?|orders?)|someone else(?:'s)?)\b|"
    r"(?<!as )\b(?:you|customer|they|he|she) (?:also |just |have |had )?(?:said|say|says|mention(?:ed)?|wrote|told|"
    r"claim(?:ed)?|asked|think|thought|believed?|feel|were told|wonder(?:ed)?)\b|"
    r"\baccording to\b|\byour message\b|\bmeans\b"
)
RESUMES: Final = re.compile(r"我(?:們)?(?:這邊)?(?:也)?(?:已|剛)(?!.{0,12}就)|\b(?:i|we)(?:'ve| have)\b")
TEACHES: Final = re.compile(
    r"通常|一般(?:來說|而言|會|是)?|原則上|依規定|按照規定|規則|政策|大多|多半|"
    r"\b(?:usually|normally|generally|typically|policy|always|as a rule|in general|refunds are|returns are|"
    r"exchanges are|refunds go)\b|\ba (?:refund|return|lost parcel) (?:is|usually)\b"
)
# The customer may have it so: whoever would answer then has not been asked.
OFFERS: Final = re.compile(
    r"(?:可以|能|歡迎|隨時)[^,]{0,8}(?:請|找|聯絡|要求|呼叫|轉)[^,]{0,6}(?:真人|同事|專員|專人|客服|人員)|"
    r"\byou (?:can|could|may)(?: always| also)?[^,]{0,20} (?:ask|call|request|speak|talk)\b[^,]{0,20}"
    r"\b(?:person|people|human|colleague|somebody|someone|staff)\b"
)
# Right before the words: it is taken back or withdrawn, and is neither goods nor the customer's money.
OF_A_DISCOUNT: Final = re.compile(
    r"(?:折扣|折價|優惠|抵用券?|點數|紅利|活動|免運)(?:券|碼)?[^,退後]{0,3}(?:(?:nt)?\$?\d+元? *)?$|"
    r"\b(?:coupon|discount|voucher|promotion|promo|offer|points?|free shipping)(?: code)?(?: of(?: \S+)?)? *$"
)
# What the customer has paid comes to the shop, unless the clause says that it goes back.
OF_A_PAYMENT: Final = re.compile(r"(?:付款|支付|結帳|刷卡|貨款)(?!方式|管道)[^,]{0,14}$")
GOES_BACK: Final = re.compile(r"[退回還]")
ABOUT_THIS_ONE: Final = re.compile(r"您的|我已|我們已|已經?(?:幫|為)您|\byour\b|\bi\b")
DENIES: Final = re.compile(
    r"(?:沒有?(?!問題|關係|錯)|尚未|未(?!來)|還沒|無法|不能|不可|並非|不會|不是|不代表|不等於|別(?!擔心)|不要|不曾|"
    r"從未|難以|找不到|查不到|查無)[^,。]{0,6}$|"
    r"\b(?:not|never|no|nothing|none|neither|nor|cannot|unable|without|hardly|isn't|hasn't|haven't|wasn't|weren't|"
    r"don't|didn't|doesn't|can't|couldn't|won't|failed)\b"
    r"(?! (?:need|problem|worr(?:y|ies)|longer than|only|further|later|more))"
)
LOOKS_AHEAD: Final = re.compile(
    r"(?<!機)(?<!社)會(?!員|計)|(?<!已)將(?!您|商品)|才(?!剛)|就會|即將|預計|準備(?!好了)|打算|建議|希望|"
    r"'ll\b|'d like\b|\b(?:will|would|could|might|may|shall|should|going to|to be|about to|ready to|want|wants|"
    r"like me to|let me|needs?|please|plan|hope|ought)\b"
)
# Beside these, a form that does not itself say “already” speaks of what can be.
LEAVES_OPEN: Final = re.compile(
    r"可以|可(?!是)|能(?!源)|需要|需|要(?!求)|得(?=先)|想|請(?=您|先|按)|按(?!照)|待|等(?!候|一下)|再(?=請|按|幫)|協助|"
    r"\b(?:can(?! see| confirm)|able to|have to|has to|has yet|need)\b"
)
SAYS_ALREADY: Final = re.compile(r"已|剛|成功|完成|好了|了$|囉|妥|\b(?:already|been|'ve|have|has|was|were|now)\b")
# Right behind the words: a time, a condition, a definition, or that it came to nothing.
TAKES_BACK: Final = re.compile(
    r"^(?:了|好|完成|成功|確認)?"
    r"(?:之後|以後|後(?!續|台)|時(?!間)|的時候|之前|以前|前(?!往)|的話|才|的情況|的紀錄|沒有成|失敗|沒成)|"
    r"^的?(?:意思|定義|代表|表示)|^\W*means\b|^[^,]{0,16}?(?:沒有找到|找不到|查不到|沒有成立|失敗|才會|才能|被拒)|"
    r"\b(?:once(?! more| again)|as soon as|only after|after you|after your|until|unless|if you|when you|in case|"
    r"provided|failed)\b"
)
# Ways to begin that look like wishes; they are cut away.
POLITE: Final = re.compile(
    r"\b(?:i|we)(?:'d like to| would like to| want to| can)? "
    r"(?:confirm|let you know|inform you|tell you|report|assure you)(?: that)?\b|"
    r"\bplease (?:note|know|be (?:informed|advised|assured))(?: that)?\b|"
    r"\b(?:i'm|i am|we're|we are) (?:happy|pleased|glad|delighted) to "
    r"(?:say|confirm|tell you|inform you|let you know|report)(?: that)?\b"
)
