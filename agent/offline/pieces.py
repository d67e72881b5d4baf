"""The stand-in's small talk, questions and parts of sentences, in Chinese and English; `phrases` holds the rest."""

from typing import Final

PIECES: Final[dict[str, tuple[str, str]]] = {
    # --- words only ---
    "greeting": (
        "您好！我可以幫您查訂單和配送、取消、退貨、換貨或查退款。請問需要什麼協助呢？",
        "Hello! I can look up your order and its delivery, and help with cancelling, returns, exchanges and refunds. "
        "What can I do for you?",
    ),
    "who": (
        "我是這家店的自動客服助理，不是真人。",
        "I am the shop's automatic assistant, not a person.",
    ),
    "sorry": ("很抱歉給您帶來不好的經驗。", "I am sorry about this experience."),
    "thanks": ("不客氣！還有需要再告訴我。", "You are welcome! Tell me if there is anything else."),
    "never_mind": (
        "好的，都沒有變動。之後需要再告訴我。",
        "All right, nothing was changed. Tell me if you need anything.",
    ),
    "amounts_are_worked_out": (
        "退款金額是系統依照實際付款、折扣和留下來的商品算出來的，我沒辦法更改，也不能答應其他金額。",
        "Refund amounts are worked out by the system from what was paid, the discounts and what you keep. I cannot "
        "change them or promise another amount.",
    ),
    "offer_person": (
        "要我幫您轉接真人客服嗎？",
        "Shall I ask a colleague to take over?",
    ),
    "handing_off": ("好的，我請同事來接手。", "All right, I am asking a colleague to take over."),
    "handed_off": (
        "已經請同事接手，會在這個對話裡回覆您。",
        "I have asked a colleague to take over; they will answer here.",
    ),
    "done_nothing_due": (
        "「{goods}」已取消；依這筆訂單的規則，沒有需要退回的金額（編號 {number}）。",
        "{goods} is cancelled; by the rules of this order there is nothing to pay back (number {number}).",
    ),
    "summary": ("顧客寫道：{said}", "The customer wrote: {said}"),
    "no_hand_off": (
        "很抱歉，我這邊現在沒辦法轉接，請稍後再試一次。",
        "I am sorry, I cannot reach a colleague right now. Please try again a little later.",
    ),
    "which": (
        "請問是哪一件商品，想要怎麼處理呢？這張訂單有：{list}。可以取消、退貨、換貨，或查配送；其他事情我可以請同事協助。",
        "Which item is it about, and what would you like? This order has: {list}. I can cancel, return, exchange, or "
        "check the delivery; for anything else I can ask a colleague.",
    ),
    "which_for": (
        "請問是哪一件呢？這張訂單有：{list}。也可以說「全部」。",
        "Which item is it about? This order has: {list}. You can also say “all of it”.",
    ),
    "which_of": ("請問是指哪一件：{list}？", "Which one do you mean: {list}?"),
    "what_for": (
        "請問{goods}想要怎麼處理呢？可以告訴我是壞了、想退、想換，還是想查配送。",
        "What would you like to do about {goods}? Tell me whether it is broken, you want to return or exchange it, or "
        "you wonder where it is.",
    ),
    "how_many": ("請問{goods}要處理幾件呢？目前有 {count} 件。", "How many of {goods} is it about? There are {count}."),
    "no_quote_yet": (
        "目前還沒有試算過退款。告訴我想取消或退回哪一件，我就幫您算。",
        "No refund has been worked out yet. Tell me which item you want to cancel or return.",
    ),
    "why_amount": ("金額 {amount} 是這樣算的：{why}。", "{amount} is worked out like this: {why}."),
    "cannot_look": ("很抱歉，我現在讀不到這張訂單。", "I am sorry, I cannot read this order right now."),
    "beyond": ("這件事我這邊沒辦法處理。", "I am sorry, I cannot do this myself."),
    "trouble": ("很抱歉，這件事我這邊沒有辦成。", "I am sorry, I could not get this done."),
    "carrier": ("（{carrier}）", " ({carrier})"),
    "and_stock": ("{product}（目前沒有現貨）", "{product} (out of stock at the moment)"),
    "account_card": ("尾號 {last4} 的卡片", "your card ending {last4}"),
    "account_other": ("原付款方式", "your original payment"),
    "account_credit": ("購物金", "your store credit"),
    "part": ("{amount} 退到{account}", "{amount} to {account}"),
    "in_brackets": ("（{text}）", " ({text})"),
    "by_hand": ("由人工退款，編號 {number}", "paid by hand, number {number}"),
    "number": ("（編號 {number}）", " (number {number})"),
    "reason_defective": ("商品有瑕疵", "defective"),
    "reason_wrong_item": ("寄錯商品", "not what was ordered"),
    "either": ("或", " or "),
    "comma": ("、", ", "),
    "times": ("{name} {quantity} 件", "{quantity} × {name}"),
    "quoted": ("「{name}」", "“{name}”"),
}

# The reason of a step, for when the quote's own sentence is in another language than the customer's.
STEPS: Final[dict[str, tuple[str, str]]] = {
    "returned_goods": ("退掉的商品", "the goods"),
    "coupon_lost": ("折價券不再適用", "the coupon no longer applies"),
    "coupon_reduced": ("折扣的份額", "its part of the discount"),
    "bundle_lost": ("組合優惠不再適用", "the bundle price no longer applies"),
    "shipping_due": ("不再免運", "shipping is no longer free"),
    "shipping_returned": ("退還運費", "shipping"),
    "return_fee": ("退貨手續費", "the return fee"),
    "carried_over": ("先前未結的差額", "what earlier steps left over"),
    "payment_limit": ("付款餘額上限", "more than the payments have left"),
    "floor": ("不足的部分不向您收取", "not charged: a refund is never a bill"),
}
