"""What the stand-in says as the staff's copilot, in Chinese and English."""

from typing import Any, Final

WORDS: Final[dict[str, tuple[str, str]]] = {
    "help": (
        "我可以幫您查顧客、訂單、付款和退款紀錄、對話，試算退款，也可以擬回覆草稿。我只能查和擬稿，不能退款或送出訊"
        "息。例如：「王小明最近兩週有沒有重複付款？列出需要追蹤的訂單」。",
        "I can look up customers, orders, payments and refunds, and conversations, work out what a refund would be, "
        "and draft answers. I read and draft only: I cannot refund or send anything. For example: “Did 王小明 pay "
        "twice in the last two weeks? List the orders to follow up.”",
    ),
    "cannot_act": (
        "我不能退款、取消或送出訊息，這些要由您來做：退款在訂單頁面，回覆在對話裡。",
        "I cannot refund, cancel or send anything; that is yours to do: refunds on the page of the order, answers "
        "in the conversation.",
    ),
    "looking_customer": (
        "我先查是哪一位顧客。",
        "Let me see which customer this is.",
    ),
    "looking_orders": (
        "我來看這段期間的訂單。",
        "Looking through the orders of that time.",
    ),
    "more_orders": (
        "還有更早的訂單，繼續看下一頁。",
        "There are older orders; going on with the next page.",
    ),
    "looking_payments": (
        "有金額相同的付款，我逐筆確認。",
        "Some payments look alike; checking each of them.",
    ),
    "who": (
        "請問是哪一位顧客？請給我姓名、電子郵件或電話末幾碼。",
        "Which customer is it? Give me a name, an e-mail or the end of a phone number.",
    ),
    "nobody": (
        "查不到符合「{query}」的顧客，請給我其他線索。",
        "No customer fits “{query}”. Can you give me something else?",
    ),
    "which": (
        "有 {count} 位符合「{query}」的顧客，請問是哪一位？",
        "{count} customers fit “{query}”. Which of them is it?",
    ),
    "choice": (
        "- {customer_id}：電子郵件 {email}，電話末碼 {phone}，{orders} 筆訂單，第一筆在 {first}",
        "- {customer_id}: e-mail {email}, phone ending {phone}, {orders} orders, the first on {first}",
    ),
    "none_known": (
        "未提供",
        "not given",
    ),
    "period": (
        "我看了 {begin} 到 {end}（{zone}）的 {count} 筆訂單。",
        "I looked at {count} orders from {begin} to {end} ({zone}).",
    ),
    "no_alike": (
        "這段期間的 {payments} 筆付款裡，沒有金額、付款方式都相同而且時間相近的。",
        "Among the {payments} payments of that time no two have the same amount and method near in time.",
    ),
    "follow_up": (
        "需要追蹤的訂單：{orders}。",
        "Orders to follow up: {orders}.",
    ),
    "nothing_to_follow": (
        "沒有需要追蹤的訂單。",
        "There are no orders to follow up.",
    ),
    "blocked": (
        "**查核受阻**：付款服務沒有回應，無法確認訂單 {orders} 是否重複付款。這不代表沒有重複，請稍後再查一次。",
        "**The check was blocked**: the payment service did not answer, so whether orders {orders} were paid twice "
        "is not known. This does not mean that there are no duplicates; ask again later.",
    ),
    "alike": (
        "- 訂單 {orders}：都是 {amount}，{label}，相隔 {apart}，錢都收到了，沒有全額退回，請確認是不是重複付款。",
        "- Orders {orders}: {amount} each, {label}, {apart} apart, the money of each has come and not gone back in "
        "full. Please look whether one was made twice.",
    ),
    "failed": (
        "- 訂單 {order}：{amount} 的付款沒有成功，沒有收到錢，不算重複。",
        "- Order {order}: the payment of {amount} failed and brought no money, so it is no second payment.",
    ),
    "given_back": (
        "- 訂單 {order}：{amount} 已經全額退款（{refunds}），已處理。",
        "- Order {order}: {amount} was refunded in full already ({refunds}).",
    ),
    "on_its_way": (
        "- 訂單 {order}：{amount} 的退款還沒有完成（{refunds}），請追蹤。",
        "- Order {order}: the refund of {amount} is not finished yet ({refunds}); please follow it up.",
    ),
    "only_there": (
        "- 訂單 {order}：付款服務那邊有 {amount} 的退款，這裡沒有紀錄，請補登。",
        "- Order {order}: the payment service has refunds of {amount} that our records do not have; please enter them.",
    ),
    "not_looked": (
        "還有 {count} 筆相似的訂單沒有查完。",
        "{count} more orders that look alike were not checked.",
    ),
    "minutes": (
        "{count} 分鐘",
        "{count} minutes",
    ),
    "hours": (
        "{count} 小時",
        "{count} hours",
    ),
    "error": (
        "這一步沒有查成：{message}",
        "This could not be looked up: {message}",
    ),
    "reading": (
        "我先看這段對話。",
        "Reading the conversation first.",
    ),
    "drafting": (
        "我來擬一份回覆草稿。",
        "Drafting an answer.",
    ),
    "drafted": (
        "草稿已經放在對話旁邊，內容是告訴顧客我們正在查訂單 {order}。還沒有送出，請您看過再送。",
        "The draft stands beside the conversation; it tells the customer that we are looking into order {order}. "
        "Nothing was sent: please read it and send it yourself.",
    ),
    "no_conversation": (
        "請在對話頁面旁邊問我，我才知道要回哪一段對話。",
        "Ask me beside a conversation, so that I know which one to answer.",
    ),
    "no_draft": (
        "沒有留下草稿：{message}",
        "No draft was kept: {message}",
    ),
    "ticket": (
        "- 對話 {number}（訂單 {order}，{state}）：{text}",
        "- Conversation {number} (order {order}, {state}): {text}",
    ),
    "tickets": (
        "找到 {count} 段對話：",
        "{count} conversations:",
    ),
    "no_tickets": (
        "沒有符合的對話。",
        "No conversation fits.",
    ),
    "which_order": (
        "請給我訂單編號和要退的商品名稱。",
        "Give me the number of the order and the goods.",
    ),
    "quoted": (
        "訂單 {order} 的試算：**{amount}**。{why} 這只是試算，退款要在訂單頁面由您來做。",
        "Quote for order {order}: **{amount}**. {why} This is a preview; the refund is yours to make on the order's "
        "page.",
    ),
}
DRAFTS: Final = {
    "zh-hant": "您好，我們收到您的訊息了，正在查詢訂單 {order} 的紀錄，確認後會在這裡回覆您。",
    "en": "Hello, thank you for your message. We are looking into the records of order {order} and will answer here.",
}


def say(chinese: bool, phrase: str, **values: Any) -> str:
    return WORDS[phrase][0 if chinese else 1].format(**values)


def listed(chinese: bool, parts: list[str]) -> str:
    return ("、" if chinese else ", ").join(dict.fromkeys(parts))
