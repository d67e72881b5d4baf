"""Every sentence of the stand-in, in Chinese and English. It answers in the customer's language, whatever the page's.

Names, amounts and numbers are put in from tool results; no sentence contains an amount of its own.
"""

from typing import Final

from agent.offline.pieces import PIECES

PHRASES: Final[dict[str, tuple[str, str]]] = PIECES | {
    # --- looking ---
    "look": ("我先查一下您的訂單。", "Let me look at your order first."),
    "look_again": ("我再看一次訂單目前的狀況。", "Let me look at the order once more."),
    "look_parcels": ("我查一下包裹的狀況。", "Let me check the parcels."),
    "look_refunds": ("我查一下退款紀錄。", "Let me check the refunds."),
    "quoting": ("我先試算退款金額。", "I will work out the refund first."),
    "can_exchange": ("{goods}可以換貨。", "{goods} can be exchanged."),
    "can_cancel": ("{goods}還沒出貨，可以取消。", "{goods} has not been shipped, so it can be cancelled."),
    "can_return": ("{goods}可以退貨。", "{goods} can be returned."),
    "can_lost": ("{goods}已經很久沒有送達，可以退款。", "{goods} never arrived, so it can be refunded."),
    "can_resend": ("{goods}可以重新寄一份。", "{goods} can be sent again."),
    "look_products": ("我查一下有哪些商品。", "Let me look through our products."),
    "look_carrier": ("我問一下物流預計什麼時候送達。", "Let me ask the carrier when it can arrive."),
    # --- asking for a press ---
    "offer_cancel": ("取消{goods}可以退您 {amount}{to}。", "Cancelling {goods} gives you back {amount}{to}."),
    "offer_lost": (
        "{goods}在運送途中遺失，可以退您 {amount}{to}。",
        "{goods} got lost on the way; you get back {amount}{to}.",
    ),
    "offer_return": (
        "退回{goods}，我們收到並確認後會退您 {amount}{to}。",
        "For returning {goods} you get back {amount}{to} once we have received and checked it.",
    ),
    "offer_exchange": ("{goods}幫您申請換貨。", "For {goods} I have prepared an exchange."),
    "offer_exchange_for": (
        "{goods}可以換成同價的{product}，幫您準備好了。",
        "{goods} can be exchanged for {product} at the same price; I have prepared it.",
    ),
    "offer_resend": (
        "{goods}視為遺失，可以重新寄一份給您，不用另外付費。",
        "{goods} counts as lost; we can send it again at no cost.",
    ),
    "to": ("（退到{account}）", " (to {account})"),
    "why": ("金額是這樣算的：{why}。", "How the amount is worked out: {why}."),
    "press": (
        "請按下方按鈕確認；按下之前不會有任何變動。",
        "Please confirm with the button below. Nothing changes before you press it.",
    ),
    "press_all": (
        "請分別按下方按鈕確認；按下之前不會有任何變動。",
        "Please confirm each with its button below. Nothing changes before you press it.",
    ),
    "then_next": ("這部分完成後，我接著幫您處理{goods}。", "After that I will go on with {goods}."),
    # --- what became of it ---
    "done_cancel": (
        "{goods}已取消，{amount} 正在退回{account}，退款編號 {number}。",
        "{goods} is cancelled, and {amount} is on its way to {account}. Refund number: {number}.",
    ),
    "done_lost": (
        "{goods}的退款已受理，{amount} 正在退回{account}，退款編號 {number}。",
        "The refund for {goods} is accepted: {amount} is on its way to {account}. Refund number: {number}.",
    ),
    "paid_cancel": (
        "{goods}已取消，{amount} 已退回{account}，退款編號 {number}。",
        "{goods} is cancelled, and {amount} has been refunded to {account}. Refund number: {number}.",
    ),
    "paid_lost": (
        "{goods}的退款完成了，{amount} 已退回{account}，退款編號 {number}。",
        "The refund for {goods} is done: {amount} has been refunded to {account}. Refund number: {number}.",
    ),
    "wait_approval": (
        "{goods}的退款 {amount} 已送出，金額較高，需要主管核准後才會退款，退款編號 {number}。",
        "The refund of {amount} for {goods} has been submitted. Because of its size a supervisor has to approve it "
        "first. Refund number: {number}.",
    ),
    "being_checked": (
        "{goods}的退款 {amount} 結果正在確認中，確定後會通知您，退款編號 {number}。",
        "The refund of {amount} for {goods} is being checked with the payment provider; we will tell you. "
        "Refund number: {number}.",
    ),
    "pay_later": (
        "{goods}的退款 {amount} 已受理，要晚一點才能開始退款，屆時會自動退回{account}，退款編號 {number}。",
        "The refund of {amount} for {goods} is accepted. The payment provider takes it only later; it is sent to "
        "{account} by itself then. Refund number: {number}.",
    ),
    "pay_failed": (
        "{goods}的退款 {amount} 沒有成功，同事會處理，退款編號 {number}。",
        "The refund for {goods} did not go through: the payment provider has refused to pay back {amount}. A colleague "
        "sees to it. Refund number: {number}.",
    ),
    "done_cancel_each": ("{goods}已取消，退款編號 {number}。", "{goods} is cancelled. Refund number: {number}."),
    "done_lost_each": (
        "{goods}的退款已受理，退款編號 {number}。",
        "The refund for {goods} is accepted. Refund number: {number}.",
    ),
    "share_pending": ("{amount} 正在退回{account}。", "{amount} is on its way to {account}."),
    "share_succeeded": ("{amount} 已退回{account}。", "{amount} has been refunded to {account}."),
    "share_waiting": (
        "{amount} 要晚一點才能開始退款，屆時會自動退回{account}。",
        "The payment provider takes {amount} only later; it is sent to {account} by itself then.",
    ),
    "share_unknown": (
        "{amount} 的退款結果正在確認中。",
        "{amount} is being checked with the payment provider.",
    ),
    "share_failed": (
        "{amount} 的退款沒有成功，同事會處理。",
        "The payment provider has refused {amount}; a colleague sees to it.",
    ),
    "share_by_hand": ("{amount} 已{how}。", "{amount} was {how}."),
    "done_return": (
        "{goods}的退貨申請已成立，退貨編號 {number}。收到商品並確認後會退您 {amount}。",
        "The return of {goods} is registered, return number {number}. You get {amount} back once we have received "
        "and checked it.",
    ),
    "done_exchange": (
        "{goods}的換貨申請已成立，換貨編號 {number}。",
        "The exchange of {goods} is registered, exchange number {number}.",
    ),
    "done_resend": (
        "{goods}會重新寄出，補寄編號 {number}。",
        "{goods} will be sent again, replacement number {number}.",
    ),
    "declined_resend": (
        "好的，{goods}沒有重新寄。之後想處理隨時告訴我。",
        "All right: {goods} will not be sent again. Tell me whenever you want to take it up again.",
    ),
    "send_back": (
        "請把商品寄回，收到後我們就寄出新品。",
        "Please send it back; we ship the new one when it has arrived.",
    ),
    "declined_refund": (
        "好的，{goods}沒有取消，也沒有退款。之後想處理隨時告訴我。",
        "All right: {goods} was not cancelled and nothing was refunded. Tell me whenever you want to take it up again.",
    ),
    "declined_return": (
        "好的，{goods}沒有申請退貨。之後想處理隨時告訴我。",
        "All right: no return was registered for {goods}. Tell me whenever you want to take it up again.",
    ),
    "declined_exchange": (
        "好的，{goods}沒有申請換貨。之後想處理隨時告訴我。",
        "All right: no exchange was registered for {goods}. Tell me whenever you want to take it up again.",
    ),
    "expired": (
        "{goods}的確認時間已過，沒有任何變動。需要的話我可以重新試算。",
        "The time to confirm {goods} has run out, and nothing was changed. I can work it out again if you like.",
    ),
    "failed": ("很抱歉，{goods}沒有辦成：{message}", "I am sorry, {goods} could not be done: {message}"),
    "nothing_moved": ("沒有任何退款或變動。", "Nothing was refunded or changed."),
    # --- what stands in the way ---
    "blocked_packed": (
        "很抱歉，{goods}已經在倉庫包裝，來不及取消，所以沒有退款。您收到之後可以再申請退貨。",
        "I am sorry: {goods} is already being packed, so it is too late to cancel, and nothing was refunded. You can "
        "return it after it has arrived.",
    ),
    "blocked_shipped": (
        "{goods}已經寄出，正在運送途中，沒辦法取消。您收到之後可以再申請退貨。",
        "{goods} is already on its way and cannot be cancelled. You can return it after it has arrived.",
    ),
    "blocked_kept_back": (
        "{goods}屬於不能退換的商品，只有{reasons}時才可以。如果是這樣，請告訴我哪裡不對。{offer}",
        "{goods} is of a kind that can only come back if it is {reasons}. If it is, tell me what is the matter. "
        "{offer}",
    ),
    "blocked_window_over": (
        "{goods}已經超過退換貨期限，我這邊沒辦法直接處理，需要由同事判斷。{offer}",
        "The return window for {goods} is over, so I cannot do this by myself; a colleague has to decide. {offer}",
    ),
    "blocked_returning": (
        "{goods}已經有一筆退貨在處理中{number}，不需要再申請一次。",
        "There is already a return open for {goods}{number}; you need not ask again.",
    ),
    "blocked_exchanging": (
        "{goods}已經有一筆換貨在處理中{number}，不需要再申請一次。",
        "There is already an exchange open for {goods}{number}; you need not ask again.",
    ),
    "blocked_resending": (
        "{goods}已經安排重新寄出{number}，不需要再申請一次。",
        "{goods} is already being sent again{number}; you need not ask once more.",
    ),
    "lost_choice": (
        "{goods}寄出很久都沒有送達，可以視為遺失。您想要退款，還是重新寄一份給您呢？",
        "{goods}: shipped long ago and never arrived, so this counts as lost. Would you like your money back, or "
        "shall we send it again?",
    ),
    "no_product": (
        "找不到可以跟{goods}交換的商品。",
        "I could not find what {goods} could be exchanged for.",
    ),
    "other_price": (
        "有找到{found}，但價格和{goods}不同，只能換同價的商品。",
        "I found {found}, but the price differs from that of {goods}; only products of the same price can be "
        "exchanged.",
    ),
    "sold_out": (
        "{found}目前沒有現貨，所以{goods}暫時沒辦法換。",
        "{found} is out of stock at the moment, so {goods} cannot be exchanged for it.",
    ),
    "which_product": (
        "{goods}可以換成同價的：{found}。請問要哪一個呢？",
        "{goods} can be exchanged at the same price for: {found}. Which one would you like?",
    ),
    "or_return": (
        "您也可以選擇退貨退款，或者由同事協助。",
        "You can also return it for a refund, or a colleague can help.",
    ),
    "product": ("「{name}」{price}", "“{name}” at {price}"),
    "products_found": ("找到這些商品：{found}。", "This is what I found: {found}."),
    "product_found": ("{found}，{stock}。", "{found}, {stock}."),
    "in_stock": ("目前有現貨", "in stock"),
    "out_of_stock": ("目前沒有現貨", "out of stock at the moment"),
    "stock_unknown": ("庫存請以出貨時為準", "stock is not counted here"),
    "none_found": (
        "很抱歉，找不到符合的商品。可以換個說法，或告訴我商品名稱。",
        "I am sorry, no product fits that. Try other words, or tell me the product's name.",
    ),
    "which_words": (
        "請問您想找什麼商品呢？可以告訴我名稱、顏色或種類。",
        "What are you looking for? Tell me a name, a colour or a kind of product.",
    ),
    # --- delivery dates ---
    "eta_waiting": (
        "{goods}還沒寄出；如果今天交給物流，預計 {earliest}到 {latest}之間送達。這是預估，不是保證。",
        "{goods} has not left yet; handed over today, it would arrive between {earliest} and {latest}. That is an "
        "estimate, not a promise.",
    ),
    "eta_shipped": (
        "{goods}已經寄出，物流預計 {earliest}到 {latest}之間送達。這是預估，不是保證。",
        "{goods} is on its way; the carrier expects it between {earliest} and {latest}. That is an estimate, "
        "not a promise.",
    ),
    "eta_late": (
        "{goods}原本預計 {latest}前送達，現在比預期晚了，我不知道新的日期。",
        "{goods} should have arrived by {latest}; it is late, and I do not know a new date.",
    ),
    "eta_unknown": (
        "物流現在沒有回應，我沒辦法告訴您日期，也不想亂猜。稍後可以再問我一次。",
        "The carrier does not answer at the moment, so I cannot tell you a date and do not want to guess. Please ask "
        "me again later.",
    ),
    # --- the address ---
    "address_needs": (
        "好的，可以改地址。請再告訴我：{missing}。",
        "I can change the address. Please also tell me: {missing}.",
    ),
    "offer_address": (
        "我準備好把還沒包裝的商品改寄到：{address}。",
        "I have prepared sending what is not packed yet to: {address}.",
    ),
    "done_address": ("已經改好了，之後會寄到：{address}。", "Done: it will be sent to {address}."),
    "same_address": (
        "這張訂單本來就會寄到：{address}，不需要修改。",
        "The order is sent to this address already: {address}.",
    ),
    "declined_address": ("好的，地址沒有更改。", "All right, the address was not changed."),
    "expired_address": (
        "確認時間已過，地址沒有更改。需要的話我再準備一次。",
        "The time to confirm has run out, and the address was not changed. I can prepare it again.",
    ),
    "address_too_late": (
        "這張訂單的商品都已經包裝或寄出了，所以地址沒辦法再更改。",
        "Everything of this order has been packed or shipped already, so the address cannot be changed any more.",
    ),
    "failed_address": ("很抱歉，地址沒辦法更改：{message}", "I am sorry, the address could not be changed: {message}"),
    "recipient": ("收件人姓名", "the recipient's name"),
    "phone": ("電話", "a phone number"),
    "postal_code": ("郵遞區號", "the postal code"),
    "city": ("縣市", "the city"),
    "district": ("鄉鎮市區", "the district"),
    "street": ("路名和門牌", "street and number"),
    # --- compensation ---
    "compensation_how_much": (
        "很抱歉給您帶來不好的經驗。補償要由同事決定，我沒辦法先答應；請問您希望的補償是多少元？我會一起轉達。",
        "I am sorry about this experience. A compensation is for a colleague to decide and I cannot promise one. What "
        "amount do you have in mind? I will pass it on.",
    ),
    "compensation_no_amount": (
        "沒有您希望的金額，我沒辦法替您轉達。",
        "Without an amount from you I cannot pass it on.",
    ),
    "compensation_asking": (
        "很抱歉給您帶來不好的經驗。我把您的要求轉給同事。",
        "I am sorry about this experience. I am passing your request on to a colleague.",
    ),
    "compensation_proposed": (
        "您希望補償 {amount} 的要求已經轉給同事（編號 {number}）。由同事決定，我沒辦法保證結果；決定後會在這裡通知您。",
        "Your request for a compensation of {amount} has been passed on to a colleague (number {number}). They decide, "
        "and I cannot promise anything; the decision will be written here.",
    ),
    "compensation_refused": (
        "很抱歉，這個補償要求沒辦法轉達：{message}",
        "I am sorry, this request for a compensation cannot be passed on: {message}",
    ),
    "blocked_refunded": (
        "{goods}先前已經申請過退款{number}。",
        "A refund for {goods} has been asked for before{number}.",
    ),
    "blocked_cancelled": ("{goods}先前已經取消了{number}。", "{goods} has already been cancelled{number}."),
    "blocked_lost": (
        "{goods}一直沒有送達，可以退款，或由同事安排補寄。{offer}",
        "{goods} never arrived and can be refunded, or a colleague can arrange for it to be sent again. {offer}",
    ),
    "blocked_delivered": ("{goods}沒辦法這樣處理。{offer}", "This is not possible for {goods}. {offer}"),
    "blocked_unfulfilled": (
        "{goods}還沒出貨，所以沒辦法換貨。要改買別的，可以先取消這一件，再重新下單。",
        "{goods} has not been shipped, so there is nothing to exchange yet. If you would rather have something else, "
        "it can be cancelled and ordered anew.",
    ),
    "arrived": (
        "物流紀錄顯示{goods}已於 {date}送達。如果您沒有收到，需要由同事向物流查證。{offer}",
        "The carrier reports that {goods} was delivered on {date}. If you have not received it, a colleague has to "
        "look into it. {offer}",
    ),
    # --- parcels and refunds ---
    "parcel_packed": (
        "{goods}正在倉庫準備，還沒寄出。",
        "{goods} is being prepared in the warehouse and has not left yet.",
    ),
    "parcel_shipped": (
        "{goods}已於 {date}寄出{carrier}，正在運送途中。",
        "{goods} was shipped on {date}{carrier} and is on its way.",
    ),
    "parcel_delivered": ("{goods}已於 {date}送達{carrier}。", "{goods} was delivered on {date}{carrier}."),
    "parcel_lost": (
        "{goods}已於 {date}寄出{carrier}，但一直沒有送達。",
        "{goods} was shipped on {date}{carrier} but never arrived.",
    ),
    "here": ("{goods}已經送達。", "{goods} has been delivered."),
    "no_parcel": ("{goods}還沒包裝，也還沒寄出。", "{goods} has not been packed or shipped yet."),
    "can_stop": ("如果不想等，我可以幫您取消。", "If you would rather not wait, I can cancel it."),
    "no_date": (
        "想知道預計什麼時候送達的話，我可以幫您問物流。",
        "If you wonder when to expect it, I can ask the carrier.",
    ),
    "refund_pending": (
        "{amount} 正在退回{account}（退款編號 {number}）。",
        "{amount} is on its way to {account} (refund number {number}).",
    ),
    "refund_succeeded": (
        "{amount} 已於 {date}退回{account}（退款編號 {number}）。",
        "{amount} was refunded to {account} on {date} (refund number {number}).",
    ),
    "refund_by_hand": (
        "{amount} 已於 {date}{how}（退款編號 {number}）。",
        "{amount} was {how}, on {date} (refund number {number}).",
    ),
    "refund_unknown": (
        "{amount} 的退款結果正在確認中（退款編號 {number}）。",
        "{amount} is being checked with the payment provider (refund number {number}).",
    ),
    "refund_failed": (
        "{amount} 的退款沒有成功，同事正在處理（退款編號 {number}）。",
        "The refund of {amount} did not go through; a colleague is on it (refund number {number}).",
    ),
    "refund_pending_approval": (
        "{amount} 的退款等待主管核准（退款編號 {number}）。",
        "The refund of {amount} is waiting for approval (refund number {number}).",
    ),
    "refund_other": ("{amount}：{state}（退款編號 {number}）。", "{amount}: {state} (refund number {number})."),
    "return_line": ("退換貨 {number}：{state}。", "Return {number}: {state}."),
    "replacement_line": ("補寄 {number}：{state}。", "Replacement {number}: {state}."),
    "no_refunds": (
        "這張訂單目前沒有退款或退貨紀錄。想取消、退貨或換貨的話，告訴我是哪一件，我看看可以怎麼處理。",
        "There is no refund or return on this order so far. If you would like to cancel, return or exchange something, "
        "tell me which item, and I will see what can be done.",
    ),
}
