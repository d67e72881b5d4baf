"""How Chinese says that something has been done. See `agent/claim_forms.py`."""

from typing import Final

from agent.claim_forms import form
from agent.deeds import ADDRESS, CANCEL, COMPENSATION, EXCHANGE, HAND_OFF, REFUND, RESEND, RETURN, Reach

BEGUN, UNDER_WAY, DONE = Reach.BEGUN, Reach.UNDER_WAY, Reach.DONE
# Any sign of the clause.
_W = r"[^,:。?!]"
# What may stand between the parts of a claim: nothing that denies it or makes it the object of another verb.
_T = (
    r"(?:(?!收到|看到|了解|知道|明白|理解|查到|查過|查詢|查看|記錄|紀錄|提到|說明|計算|試算|算好|算出|"
    r"準備|超過|詢問|符合|可以|能夠|無法|不能|沒|未(?!到)|不(?!良|見|同|合|新|必|用|需)|後|時|才|"
    r"想(?!要的)|希望|需要|是否|(?<!申)請|同事|專員|"
    # What the customer pays, or what is taken off.
    r"(?:付款|支付|刷卡)(?!方式|管道|工具|帳|卡|的|信用)|結帳|扣款|扣除|抵扣|折抵|繳)[^,:。?!])"
)
_DONE = r"(?:已經|已|業已|剛剛|剛才|剛|成功|順利|全數|如數|完成了?)"
_ALL = rf"(?:{_DONE}|都|全部|也|正式)"
_OVER = r"(?:了|好|妥|完成|完畢|成功|囉|啦|嘍|完)"
_WELL = r"(?:辦|處理|弄|搞|開|建|填|排|安排|登記|申請|提交|送|設定|預約|約)(?:好|妥|完|定|成)"
_FOR = r"(?:幫|為|替|給|跟)(?:您|你)"
_NOT_ABOUT = (
    r"(?!的?(?:按鈕|卡片|選項|資格|條件|金額|明細|方案|規則|政策|需求|要求|請求|問題|期限|期間|說明|確認|意願|"
    r"原因|報價|鑑賞|辦法|流程|標準|方式|時間|試算))(?!中?(?:扣|減))"
)
_FUNDS = r"(?:(?<![付扣貨退])款項?|錢|差額|價金)"
_SUM = (
    r"(?:金額|費用|運費|[一二兩三四五六七八九十百千零]{1,10}(?:元|塊)錢?|(?:nt\$|us\$|\$)\d[\d,.]{0,15}元?|"
    r"(?<![\d.,])\d[\d,.]{0,15}(?:元|塊|圓))"
)
_MONEY = rf"(?:{_FUNDS}|{_SUM})"
# An amount alone may be a price or a payment: it is a refund where the clause says so.
_OWED = rf"(?:退款|退費|刷退|退刷|{_FUNDS}|(?<=退){_SUM}|退[還回給您你的]{{1,3}}{_SUM}|{_SUM}(?={_W}{{0,40}}退))"
_BACK = (
    r"(?:退款|退費|退錢|刷退|退刷|退到|退至|退往|退給|退入|退進|退了|退(?=您|你|(?:nt|us)?\$|\d)|匯回|匯還|匯給|"
    r"入帳|到帳|進帳|撥款|存回)"
)
_BACK_MONEY = (
    r"(?:退還|退回|歸還|返還|沖回|回沖|打回|轉回|匯入|匯出|存入|回到|進到|撥|退)"
    r"(?!貨|換|件|倉|款中?(?:扣|減)|的?(?:商品|貨|包裹|東西))"
)
_BEGIN = (
    r"(?:申請|受理|送出|提交|安排|啟動|發起|辦理|處理|核准|核可|批准|同意|登記|開始|建立|進行|成立|送件|進件|"
    r"審核|通過|授權|排入|提出|進入)"
)
_PAID = (
    r"(?:完成|成功|入帳|到帳|進帳|匯出|匯入|匯回|撥|處理好|處理完|辦好|辦妥|執行|生效|退|打回|打到|打進|返還|歸還|退還|沖回|回沖|進您|"
    r"回到|存入|轉入|轉回|發還|還給)(?!款中|款裡|款內|貨|計算|扣款|付款|結帳|授權|刷卡)"
)
# Of these the words themselves say whose money it becomes.
_PAID_BACK = r"(?:入帳|到帳|進帳|匯入|匯回|打回|打到|打進|回到|存入|轉入|轉回|發還|還給|刷退)"
_PAPERS = r"(?:申請|單|手續|流程|作業|案件|程序|狀態|進度|結果)?"
_SWAP = r"(?:退換貨|換貨|更換|換新|換一|換成|交換|換好|換了)"
_NEW = r"(?:新品|新的|新耳機|新貨|替換品|換貨商品|全新|更換的)"
_LEFT = r"(?:路上|寄出|出貨|寄送|發出|送出|配送|出發|上路|寄|在路上|發貨)"
_AGAIN = (
    r"(?:重新寄|重新出貨|重新配送|重新發貨|重新安排(?:寄送|出貨|配送)|補寄|重寄|再寄|又寄|另寄|補發|重發|"
    r"補出貨|補送|重送|再出貨|再出一|再補|另外寄)"
)
_PLACE = r"(?:地址|收件(?!箱)|寄送地|寄送資|寄件地|配送地|配送資|送貨地|送貨資|門市|取貨地|取貨店|電話|聯絡方式)"
_CHANGED = r"(?:更新|變更|修改|更改|更正|調整|改|換)"
_WHO = (
    r"(?:真人|同事|同仁|客服(?!助理|的?(?:紀錄|記錄|時間|電話|信箱|專線|資訊|頁面|說|訊息))|"
    r"專員|專人|人員|主管|店長|人工|負責人|團隊|部門|經理|窗口|夥伴)"
)
_PASS = (
    r"(?:轉接|轉交|轉給|轉達|轉介|轉由|轉往|轉至|轉到|轉送|轉|通知|請|聯絡|聯繫|呼叫|安排|派|交由|交給|"
    r"回報|反映|告知|知會|移交|提交|提報|送交|上報|通報|升級|找|叫|委請|邀請|指派|拜託)"
)
_COMES = r"(?:接手|接管|加入|在線|介入|上線|接過|趕來|過來)"
_SEES_TO_IT = r"(?:查看|了解|確認|收到|處理|協助|接到|受理|開始|看|跟進)"
_GOING_TO = r"(?:會|將|我)(?:先|再|馬上|立刻|儘快|盡快|這就|直接|來|去)?"
_ANSWERS = r"(?:回覆|答覆|聯絡|聯繫|致電|打電話|打給|來電|回電|接手|跟進|協助|接待|跟您說|與您|跟您談)"
_GIFT = r"(?:補償|賠償|購物金|優惠券|優惠碼|折價券|折扣碼|點數|回饋金|慰問金|禮券|抵用券|紅利)"
_GRANT = r"(?:核准|批准|同意|通過|發放|發送|發給|提供|贈送|匯入|送|給|存入|加|匯|入帳|放|撥|發|爭取到)"
_PROPOSE = r"(?:提出|提交|申請|轉達|轉交|轉給|送出|呈報|反映|回報|爭取|建議|送交|提報|上呈)"
# Who gives the money back when the shop asks for it.
_ASKED = r"(?:請|通知|要求|聯絡|聯繫|委託|跟|向)"
_BANK = r"(?:銀行|發卡行|信用卡公司|卡片公司|金流|收單|支付平台|付款平台)"
_GIVES_BACK = r"(?:退款|退費|退刷|刷退|退回|退還|退(?=\$|nt|\d))"

CHINESE: Final = (
    # Money. “已為您申請退款” says less than “已退款”.
    form(REFUND, BEGUN, rf"{_DONE}{_T}{{0,10}}{_BEGIN}{_T}{{0,14}}(?:退款|退費|刷退|退錢){_NOT_ABOUT}"),
    form(REFUND, BEGUN, rf"{_OWED}{_T}{{0,14}}{_ALL}{_T}{{0,6}}{_BEGIN}(?!中|並|且|及)"),
    form(REFUND, BEGUN, rf"{_OWED}{_T}{{0,10}}(?:處理|進行|作業|審核|辦理)中"),
    form(REFUND, BEGUN, rf"正在{_T}{{0,6}}(?:處理|辦理|進行){_T}{{0,8}}(?:退款|退費)"),
    form(REFUND, BEGUN, rf"{_DONE}(?:經|有)?{_ASKED}{_W}{{0,6}}{_BANK}{_W}{{0,8}}{_GIVES_BACK}"),
    form(REFUND, BEGUN, rf"我{_W}{{0,8}}(?:已經?|剛剛?|都){_W}{{0,6}}(?:按|點){_W}{{0,6}}確認"),
    form(REFUND, BEGUN, rf"{_FOR}(?:按下|按了|按過|按好|點了|確認(?:了|好)(?:退款|退費|刷退))"),
    form(
        REFUND,
        BEGUN,
        rf"(?:我|這邊){_W}{{0,6}}(?:已經?|剛剛?|都|也)?(?:替|幫|為)?(?:您|你)?(?:已經?|都)?按(?:下去|好|過|了)",
    ),
    form(REFUND, UNDER_WAY, rf"正{_W}{{0,6}}(?:退款|退費|退回|退還|退往|匯回)"),
    form(
        REFUND,
        UNDER_WAY,
        rf"(?:退款|{_MONEY}){_T}{{0,10}}(?:在路上|在{_W}{{0,6}}路上|途中|退回中|匯款中|正在(?:退|匯|返))",
    ),
    form(REFUND, DONE, rf"{_DONE}{_T}{{0,16}}{_BACK}{_NOT_ABOUT}"),
    form(REFUND, DONE, rf"{_DONE}{_T}{{0,10}}{_MONEY}{_T}{{0,10}}{_BACK_MONEY}"),
    form(REFUND, DONE, rf"{_DONE}{_T}{{0,6}}{_BACK_MONEY}{_T}{{0,12}}(?:{_MONEY}|卡|帳|購物金|原付款)"),
    form(REFUND, DONE, rf"{_OWED}{_T}{{0,16}}{_ALL}{_T}{{0,10}}{_PAID}"),
    form(REFUND, DONE, rf"{_SUM}{_T}{{0,16}}{_ALL}{_T}{{0,10}}{_PAID_BACK}"),
    form(REFUND, DONE, rf"(?:退款|退費|刷退){_PAPERS} ?(?:{_SUM} ?)?(?:完成|成功|完畢|好了|完了|囉|{_WELL})"),
    form(REFUND, DONE, rf"{_FOR}{_T}{{0,18}}(?:退款|退費|退錢|刷退|退(?!貨|換)){_T}{{0,14}}(?:了|囉|啦|完成|完畢)"),
    form(REFUND, DONE, rf"{_MONEY}{_T}{{0,10}}(?:退|匯|打|還|存|轉|撥|沖)(?!貨|換){_T}{{0,12}}(?:了|囉|啦|完成|成功)"),
    form(REFUND, DONE, rf"(?:退款|退費|刷退|退刷) ?(?:{_SUM} ?)?(?:入帳|到帳|進帳|退回|匯出|送出|撥出|辦)(?:了|囉|啦)"),
    form(REFUND, DONE, rf"{_FOR}{_T}{{0,8}}(?:搞定|辦了|辦好|弄好|處理好|處理掉){_T}{{0,6}}(?:退款|退費|退刷|刷退)"),
    form(REFUND, DONE, rf"(?:退款|退費|退刷|刷退){_PAPERS}{_T}{{0,8}}(?:跑完|走完|弄完|做完|辦完)"),
    form(REFUND, DONE, rf"(?:退款|退費|退刷|刷退){_T}{{0,10}}(?:搞定|處理好|弄好|辦好|ok)(?:了|囉|啦)"),
    form(REFUND, DONE, rf"(?:您|你|帳戶|卡片){_T}{{0,6}}已經?{_T}{{0,4}}收到{_T}{{0,8}}(?:退款|款項|\d元)"),
    form(REFUND, DONE, rf"{_MONEY}{_T}{{0,6}}(?:已經?|都){_T}{{0,2}}在{_T}{{0,6}}(?:帳|卡)"),
    form(REFUND, DONE, rf"退還?給?(?:您|你){_T}{{0,14}}(?:了|囉)"),
    form(REFUND, DONE, r"(?:^|都|全)退(?:好|完)了|(?:已經?|都)退(?:了|囉|您|給|$)|錢(?:也|都)(?:已經?)?退了"),
    form(REFUND, BEGUN, r"(?:退款|退費)(?:的?申請)?(?:通過|核准|受理|成立|送出)(?:了|囉)"),
    # Goods that will not be sent. “已取消退款申請” is about a button that was declined.
    form(
        CANCEL,
        DONE,
        rf"{_DONE}{_T}{{0,14}}取消"
        r"(?![^,並且和及與]{0,8}(?:申請|退款|退貨|換貨|確認|按鈕|操作|變更|請求|優惠|折|點數|紅利|活動|免運))",
    ),
    form(CANCEL, DONE, rf"{_FOR}{_T}{{0,12}}取消{_T}{{0,8}}(?:了|囉|好|完成|成功)"),
    form(CANCEL, DONE, r"取消(?:完成|成功|完畢|好了|了$|囉|(?:已經?|也)(?:完成|成功|生效))"),
    form(CANCEL, DONE, rf"{_DONE}{_T}{{0,10}}(?:作廢|註銷)"),
    form(CANCEL, DONE, rf"{_DONE}{_T}{{0,12}}從(?:這筆)?訂單{_T}{{0,4}}(?:移除|刪除|拿掉|刪掉)"),
    # Goods that come back.
    form(RETURN, UNDER_WAY, r"(?:已經?|剛)(?:收到|簽收|驗收)[^,。]{0,8}退(?:回|貨|還)(?!的?(?:申請|要求|需求|請求))"),
    form(RETURN, UNDER_WAY, rf"退換?貨{_W}{{0,8}}已經?{_W}{{0,4}}(?:收到|驗收|入庫)"),
    form(RETURN, UNDER_WAY, r"退回(?:來)?的?[^,]{0,10}已經?[^,]{0,4}(?:收到|入庫|驗收)"),
    form(RETURN, BEGUN, rf"{_DONE}{_T}{{0,14}}(?:退貨|退換貨){_NOT_ABOUT}"),
    form(
        RETURN,
        BEGUN,
        rf"(?:退換?貨|逆物流|退件){_T}{{0,12}}{_ALL}{_T}{{0,8}}(?:{_BEGIN}|{_WELL}|完成|開立|確認|產生|寄)",
    ),
    form(RETURN, BEGUN, rf"退換?貨{_PAPERS}(?:成立|完成|成功|受理了|核准|{_WELL})"),
    form(RETURN, BEGUN, rf"退換?貨申請{_W}{{0,6}}已經?{_W}{{0,2}}(?:核可|核准|通過|受理)"),
    form(RETURN, BEGUN, rf"退換?貨{_W}{{0,6}}(?:都|也|已經?){_W}{{0,6}}{_WELL}"),
    form(
        RETURN,
        BEGUN,
        rf"{_DONE}(?:經|有)?{_W}{{0,4}}(?:派|請|叫|約|安排){_W}{{0,4}}(?:物流|宅配|司機|貨運|黑貓){_W}{{0,8}}(?:收|取)",
    ),
    form(RETURN, BEGUN, rf"{_FOR}{_T}{{0,12}}退換?貨{_T}{{0,8}}{_OVER}"),
    form(RETURN, BEGUN, rf"{_FOR}{_T}{{0,8}}(?:{_WELL}|約了|開了){_T}{{0,8}}(?:退貨|到府收|收件)"),
    form(RETURN, BEGUN, rf"退換?貨{_T}{{0,8}}{_FOR}{_T}{{0,4}}{_WELL}"),
    form(RETURN, BEGUN, rf"(?:物流|司機|宅配|貨運){_T}{{0,4}}已經?{_T}{{0,4}}(?:排|安排|約){_T}{{0,8}}(?:收|取)"),
    form(RETURN, BEGUN, rf"{_DONE}{_T}{{0,8}}(?:安排|預約|通知|約){_T}{{0,12}}(?:收件|取件|收貨|回收|到府)"),
    # Goods for goods.
    form(EXCHANGE, DONE, rf"{_NEW}{_T}{{0,10}}(?:已經?|剛|正在){_T}{{0,6}}{_LEFT}"),
    form(EXCHANGE, DONE, rf"{_DONE}{_T}{{0,8}}{_LEFT}{_T}{{0,8}}{_NEW}"),
    form(EXCHANGE, BEGUN, rf"{_DONE}{_T}{{0,16}}{_SWAP}{_NOT_ABOUT}"),
    form(EXCHANGE, BEGUN, rf"換貨{_T}{{0,12}}{_ALL}{_T}{{0,8}}(?:{_BEGIN}|{_WELL}|完成|開立|確認|產生)"),
    form(EXCHANGE, BEGUN, rf"(?:換貨|更換的?){_PAPERS}(?:成立|完成|成功|受理了|核准|{_WELL})"),
    form(EXCHANGE, BEGUN, rf"{_FOR}{_T}{{0,18}}(?:換貨|更換|換新|換成|換一|換){_T}{{0,14}}(?:了|妥|完成|完畢|囉|好了)"),
    form(EXCHANGE, BEGUN, rf"{_FOR}{_T}{{0,8}}{_WELL}{_T}{{0,8}}換貨"),
    form(EXCHANGE, BEGUN, rf"換貨{_T}{{0,8}}{_FOR}{_T}{{0,4}}{_WELL}"),
    form(EXCHANGE, BEGUN, rf"{_DONE}{_T}{{0,8}}(?:保留|預留|留了?){_T}{{0,6}}{_NEW}"),
    # The same once more.
    form(RESEND, BEGUN, rf"{_DONE}{_T}{{0,10}}(?:安排|申請|登記|建立|受理|通知|處理|排){_T}{{0,12}}{_AGAIN}"),
    form(RESEND, BEGUN, rf"{_DONE}(?:經|有)?(?:請|通知|要求|麻煩|安排){_W}{{0,4}}倉庫{_W}{{0,10}}{_AGAIN}"),
    form(RESEND, DONE, rf"{_DONE}{_T}{{0,12}}{_AGAIN}{_T}{{0,6}}(?:出|送出|出去|走|了)"),
    form(RESEND, DONE, rf"{_AGAIN}{_T}{{0,10}}{_ALL}{_T}{{0,6}}{_LEFT}"),
    form(RESEND, DONE, rf"新的?包裹{_T}{{0,8}}(?:已經?|剛|正在){_T}{{0,6}}{_LEFT}"),
    form(RESEND, BEGUN, rf"{_DONE}{_T}{{0,14}}{_AGAIN}"),
    form(RESEND, BEGUN, rf"{_AGAIN}{_T}{{0,10}}{_ALL}{_T}{{0,6}}(?:{_BEGIN}|{_WELL}|完成)"),
    form(RESEND, BEGUN, rf"{_FOR}{_T}{{0,12}}{_AGAIN}{_T}{{0,10}}(?:了|好|妥|完成|囉)"),
    form(RESEND, BEGUN, rf"{_FOR}{_T}{{0,8}}{_WELL}{_T}{{0,8}}{_AGAIN}"),
    form(RESEND, BEGUN, rf"{_AGAIN}送?中$"),
    form(RESEND, BEGUN, rf"{_AGAIN}{_T}{{0,8}}(?:成立|{_WELL}|好了|完成|了$)"),
    # Where it goes.
    form(ADDRESS, DONE, rf"{_PLACE}{_T}{{0,16}}{_ALL}{_T}{{0,10}}(?:{_CHANGED}|登記|生效|寫入|套用|ok|儲存|存好|設定)"),
    form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,14}}{_CHANGED}{_T}{{0,10}}{_PLACE}"),
    form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,10}}{_PLACE}{_T}{{0,8}}{_CHANGED}"),
    form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,8}}改(?:寄|送|配|投|為寄|成寄)"),
    form(ADDRESS, DONE, rf"{_DONE}{_T}{{0,4}}{_CHANGED}(?:好|完成|妥)"),
    form(ADDRESS, DONE, rf"{_PLACE}{_T}{{0,10}}{_CHANGED}(?:好|妥|完成|成功|完畢|完了)"),
    form(ADDRESS, DONE, rf"{_PLACE}{_T}{{0,10}}{_CHANGED}{_W}{{1,24}}(?:了|囉|啦)$"),
    form(ADDRESS, DONE, rf"{_FOR}{_T}{{0,10}}{_CHANGED}{_T}{{0,6}}{_PLACE}{_T}{{0,4}}(?:了|囉|啦)"),
    # Somebody of the shop.
    form(HAND_OFF, BEGUN, rf"{_DONE}{_W}{{0,14}}{_PASS}{_W}{{0,14}}{_WHO}"),
    form(HAND_OFF, BEGUN, rf"{_DONE}{_T}{{0,6}}(?:升級|上報|通報|呈報|提報)"),
    form(HAND_OFF, UNDER_WAY, rf"{_WHO}{_T}{{0,8}}(?:已經?|正在|剛|在){_T}{{0,10}}{_COMES}"),
    form(HAND_OFF, UNDER_WAY, rf"已經?有{_W}{{0,4}}{_WHO}{_W}{{0,8}}{_COMES}"),
    form(HAND_OFF, UNDER_WAY, rf"把{_W}{{0,10}}(?:交給|轉給|轉交|交由){_W}{{0,4}}{_WHO}{_W}{{0,4}}(?:了|囉)"),
    form(HAND_OFF, UNDER_WAY, rf"{_DONE}{_W}{{0,8}}排隊{_W}{{0,6}}{_WHO}"),
    form(HAND_OFF, UNDER_WAY, rf"{_WHO}(?:馬上|很快|等等|稍後|立刻)就?(?:到|來)", promise=True),
    form(HAND_OFF, BEGUN, rf"{_WHO}{_T}{{0,8}}(?:已經?|正在|剛|在){_W}{{0,10}}{_SEES_TO_IT}"),
    form(HAND_OFF, BEGUN, rf"已經?有{_W}{{0,4}}{_WHO}{_W}{{0,8}}{_SEES_TO_IT}"),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"{_FOR}{_T}{{0,6}}(?:轉接|轉給|轉交|轉到|轉至|呼叫|找來|叫來|請來|通知){_W}{{0,10}}{_WHO}",
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        r"我(?:先|就|馬上|立刻|這就|現在|直接)?(?:請|讓|叫|找|通知|交給)了?"
        rf"{_W}{{0,8}}{_WHO}{_W}{{0,10}}(?:接手|來|協助|處理|聯絡|回覆|幫)",
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"(?:正在|馬上|立刻|現在){_T}{{0,6}}(?:轉接|呼叫|轉給|轉交|請|通知|聯絡){_W}{{0,10}}{_WHO}",
    ),
    form(HAND_OFF, UNDER_WAY, rf"(?:轉接|轉給|轉交){_W}{{0,6}}{_WHO}{_W}{{0,4}}(?:了|囉|完成|中|成功)"),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"{_WHO}{_T}{{0,8}}(?:會|將|稍後|很快|馬上|隨後|等等|等一下|待會|儘快|盡快){_W}{{0,14}}"
        r"(?:回覆|聯絡|聯繫|接手|跟進|致電|打電話|打給|與您|跟您|回電|為您|協助|來|加入)",
        promise=True,
    ),
    # Somebody who will come is a claim by default; only who asks, denies or offers makes none.
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"(?:會|將)(?:會|再|先|儘快|盡快)?(?:有|由|請|派|讓|安排|指派|交由){_W}{{0,8}}(?:{_WHO}|(?<=[有派])人(?!工))"
        rf"{_W}{{0,14}}{_ANSWERS}",
        promise=True,
    ),
    form(HAND_OFF, UNDER_WAY, rf"{_WHO}{_T}{{0,10}}(?:會|將){_T}{{0,10}}{_ANSWERS}", promise=True),
    form(
        HAND_OFF,
        BEGUN,
        rf"(?:會|將)(?:再|先|儘快|盡快)?(?:有|由|請|派){_W}{{0,6}}{_WHO}{_W}{{0,8}}(?:處理|說明|服務)",
        promise=True,
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"(?:{_FOR}|我|這就|馬上|立刻|立即)(?:先|就|再|這就|馬上|立刻|直接|來)?(?:{_FOR})?(?:先|就|馬上|立刻|直接)?"
        rf"轉(?:接|給|到|至|交|由|往)?{_W}{{0,6}}{_WHO}",
        promise=True,
    ),
    form(
        HAND_OFF, BEGUN, rf"{_GOING_TO}(?:請|通知|反映給|回報給?|轉達給?|聯絡|聯繫|安排){_W}{{0,6}}{_WHO}", promise=True
    ),
    form(
        HAND_OFF,
        BEGUN,
        rf"{_GOING_TO}(?:把{_W}{{0,10}})?(?:轉[給交接]?|交給|交由|找|叫){_W}{{0,8}}{_WHO}",
        promise=True,
    ),
    # Something for the trouble.
    form(COMPENSATION, BEGUN, rf"{_DONE}{_W}{{0,14}}{_PROPOSE}{_W}{{0,16}}{_GIFT}"),
    form(COMPENSATION, BEGUN, rf"{_GIFT}{_W}{{0,18}}{_ALL}{_W}{{0,8}}{_PROPOSE}"),
    form(COMPENSATION, BEGUN, rf"(?:{_FOR}|{_DONE}){_W}{{0,10}}把{_W}{{0,8}}{_GIFT}{_W}{{0,10}}{_PROPOSE}"),
    form(COMPENSATION, UNDER_WAY, rf"(?:核准|批准|同意|通過)了{_W}{{0,10}}{_GIFT}"),
    form(COMPENSATION, UNDER_WAY, rf"{_DONE}{_T}{{0,14}}{_GRANT}{_W}{{0,16}}{_GIFT}"),
    form(COMPENSATION, UNDER_WAY, rf"{_GIFT}{_T}{{0,18}}{_ALL}{_T}{{0,10}}{_GRANT}"),
    form(COMPENSATION, UNDER_WAY, rf"{_DONE}{_T}{{0,6}}(?:補償|賠償|賠){_NOT_ABOUT}"),
    form(
        COMPENSATION,
        UNDER_WAY,
        rf"{_FOR}{_T}{{0,14}}(?:加|送|發|給|申請|爭取|補|補償|賠){_W}{{0,14}}{_GIFT}{_W}{{0,6}}(?:了|囉|好|到)",
    ),
    form(
        COMPENSATION, UNDER_WAY, rf"(?:送|贈送|補償|補貼|賠)(?:給)?(?:您|你){_W}{{0,12}}(?:{_GIFT}|nt\$\d|\d{1, 12}元)"
    ),
)
