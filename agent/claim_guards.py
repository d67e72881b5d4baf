"""What is said and yet not asserted: questions, conditions, quotations, rules of the shop, denials, what is to come.

Patterns over a smoothed clause (`agent/claim_text.py`). They are what keeps “once you press, NT$230 is refunded” from
being taken for “NT$230 is refunded”.
"""

import re
from typing import Final

ASKS: Final = re.compile(
    r"嗎|呢$|^要我|要不要|是否|與否|能否|有沒有|是不是|請問|"
    r"^(?:and |so |or )?(?:has|have|had|did|do|does|is|are|was|were|will|would|could|can|shall|should|may|when|what|"
    r"which|why|how|who)\b"
)
# From here on to the end of the sentence, unless somebody says what they have done already (`RESUMES`).
SUPPOSES: Final = re.compile(
    # Not where it only says how to see it: “if you look at your statement, ...”.
    r"(?:如果|若(?!干))(?!(?:您|你)?(?:去|想|要)?(?:查看?|查詢|查一下|看|看一下|打開)[^,]{0,6}(?:帳單|帳戶|明細|紀錄)$)|"
    r"假如|假設|要是|倘若|一旦|只要|只有|除非|萬一|無論|不論|等到|等您|等我們|等商品|直到|的話|例如|"
    r"比如|比方|要先|必須先|當(?!初|時|天|日|然)|"
    r"\b(?:if(?! you (?:look at|check|open) (?:your|the) [a-z ]{1,40}$)|once(?! more| again)|"
    r"when|whenever|until|unless|"
    r"before(?! (?:you|we|i) (?:go|leave|finish|close))|as soon as|as long as|whether|in case|suppose|provided|"
    r"should you|only after|for example|"
    r"after (?:you|we|the|your|it|they))\b"
)
# What somebody else says, or what has become of somebody else's order.
QUOTES: Final = re.compile(
    r"(?:您|你們?|顧客|客人|對方|他們?|她)(?:剛才|剛剛|之前|先前|上次|前面|有|也|一直)?"
    r"(?:說|提到|提及|表示|寫|認為|以為|覺得|聲稱|反映|問)(?!的|明|得)|意思是|"
    r"(?:朋友|家人|別人|其他(?:顧客|客人|人))的|別的訂單|另一(?:筆|張)訂單|"
    r"\b(?:your friend(?:'s)?|another order|other (?:customers?|orders?)|someone else(?:'s)?)\b|"
    r"(?<!as )\b(?:you|customer|they|he|she) (?:also |just |have |had )?(?:said|say|says|mention(?:ed)?|wrote|told|"
    r"claim(?:ed)?|asked|think|thought|believed?|feel|were told|wonder(?:ed)?)\b|"
    r"\baccording to (?:you|the customer|him|her|them|your (?:message|friend|words))\b|\byour message\b|\bmeans\b"
)
# A press, the customer's yes, a parcel or a decision: such a condition holds to the end of the sentence.
OF_THIS_TRADE: Final = re.compile(
    r"按|點[下擊選]|確認|同意|收到(?!.{0,3}(?:簡訊|訊息|通知|信|郵件|e))|寄[回到]|退[款貨回還]|換貨|取消|申請|成立|成功|核准|"
    r"補寄|轉接|審核|檢查|驗收|"
    r"\b(?:press|click|tap|confirm|agree|accept|approve|return|refund|receive|cancel|exchange|send|sent|ship|arrive|"
    r"check(?:ed)? (?:it|them)|button|parcel|goods|transfer|pass)"
)
# The customer is quoted beyond this clause.
QUOTES_ON: Final = re.compile(
    r"(?:說|寫|寫道|提到|表示|問)$|\b(?:said|wrote|told me|claim(?:ed)?|mentioned)(?: that)?$"
)
NO_RECORD: Final = re.compile(
    r"查不到|找不到|沒有?(?:看到|找到|查到|這筆|任何)|沒有?(?:.{0,4})(?:紀錄|記錄)|我(?:再|先|來)?(?:幫您)?(?:查|確認)一[下次]|"
    r"\b(?:can't|cannot|can not|could not|couldn't|don't|do not|didn't) (?:find|see)\b|\bno (?:such )?record\b|"
    r"\bsee (?:neither|nothing|no)\b|\bfind (?:neither|nothing|no)\b"
)
CONCLUDES: Final = re.compile(r"^(?:所以|因此|於是)|^(?:and )?(?:so(?! that| far)|therefore|hence|thus) ")
# Whoever concludes, or says that it has been done, does so in their own words.
SAID_BY_US: Final = re.compile(
    rf"{CONCLUDES.pattern}|已經?(?!.{{0,6}}(?:的話|時候))|剛剛?|完成|\b(?:has|have|had) been\b|'(?:s|ve) been\b|"
    r"\b(?:was|were)\b|\bis (?:done|complete)"
)
# What waits for the customer's own yes is no more than proposed.
AWAITS: Final = re.compile(
    r"請(?:您|你)?(?:先|再)?(?:按|點)|按(?!鈕|鍵)(?:下|一下)?[^,]{0,10}(?:確認|按鈕|鈕)|等(?:您|你)[^,]{0,4}(?:按|確認)|供您確認|讓您確認|"
    r"\bfor you(?:r)? to (?:confirm|approve|press|check|review|accept|look over)\b|"
    r"\bfor your (?:confirmation|approval|press)\b|"
    r"\b(?:confirm|approve|accept) (?:it|this|them|both|that)(?: (?:with|by|below|using|above|here)|$)|"
    r"\b(?:press|tap|click)(?: on)? [^,]{0,20}?(?:to )?confirm\b|\bwaits? for your\b"
)
# Before it comes there is something to do or to wait for.
STEPS: Final = re.compile(
    r"(?<!不用)(?<!不必)(?<!無須)(?<!不需)(?<!不需要)(?:再|先)?(?:按(?!照|鈕|鍵|了|過|好)|點選|點擊)|請[^,]{0,4}確認|[^最]後$|(?<=.)(?:之後|以後)|"
    r"(?:收到|檢查|審核|驗收)[^,]{0,6}(?:後|完)|"
    r"(?<!no need to )(?<!not have to )(?<!n't have to )\b(?:press|tap|click|confirm)\b(?!ed)|\b(?:once|after|when) "
)
# What comes then comes after the step that the sentence before names.
THEN: Final = re.compile(r"^(?:and |only )?then\b|^(?:然後|接著|這樣|之後|就會)")
DECLINED: Final = re.compile(
    r"拒絕|婉拒|(?:您|你)(?:剛才|剛剛|之前|已經?)?(?:按了?)?「?(?:取消|不要)|"
    r"\b(?:declin(?:ed|ing)|turned? down|chose not|did not go ahead|expired)\b"
)
BY_US: Final = re.compile(r"我|幫|為|\b(?:i|we)\b")
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
    r"(?:折扣|折價|優惠|抵用券?|點數|紅利|活動|免運)(?:券|碼)?[^,退後]{0,3}(?:(?:nt)?\$?\d{1,12}元? ?)?$|"
    r"\b(?:coupon|discount|voucher|promotion|promo|offer|points?|free shipping)(?: code)?(?: of(?: \S{1,20})?)? ?$"
)
# What the customer has paid comes to the shop, unless the clause says that it goes back.
OF_A_PAYMENT: Final = re.compile(r"(?:付款|支付|結帳|刷卡|貨款|[您你](?:所|已)?付的?)(?!方式|管道)[^,]{0,14}$")
# “款項已入帳, 訂單已成立”: the order comes to be by the customer's payment.
AFTER_A_PAYMENT: Final = re.compile(r"訂單已?經?成立|(?:備貨|出貨)(?:中|$)|等待出貨|準備出貨|感謝您的(?:訂購|購買)")
GOES_BACK: Final = re.compile(r"[退回還]")
# Whoever helps at a store or with a parcel is not asked by the agent.
OF_A_STORE: Final = re.compile(
    r"門市|超商|店員|物流|宅配|司機|貨運|取件人員|收件人員|倉庫|倉儲|出貨|配送|銀行|發卡行|"
    r"\b(?:at the (?:store|counter|shop)|courier|carrier|driver)\b"
)
AT_A_STORE: Final = re.compile(r"(?:門市|超商|取貨碼|櫃台).{0,30}(?:同事|人員|同仁|店員)[^,]{0,4}(?:協助|幫)")
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
    r"^的?(?:意思|定義|代表|表示)|^\W{0,4}means\b|^[^,]{0,16}?(?:沒有找到|找不到|查不到|沒有成立|失敗|才會|才能|被拒)|"
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
