"""What customers and the desk have said to each other about seeded orders."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from agent.models import Conversation, ConversationEvent, Message, Turn

if TYPE_CHECKING:
    from backoffice.seeding.rows import Placed, Shop

QUESTIONS: Final = (
    "請問我的訂單什麼時候會出貨？",
    "包裹顯示已送達，可是我沒有收到。",
    "這個可以換成別的顏色嗎？",
    "收到的東西好像有刮傷，可以退嗎？",
    "想請問退貨要怎麼寄？",
    "發票可以開統編嗎？",
    "Hi, can I change the delivery address?",
    "什麼時候會收到退款？",
)
ANSWERS: Final = (
    "您好，我先幫您看訂單 {number}。",
    "您的訂單 {number} 已經在處理，通常一到兩天內寄出。",
    "可以的，七天內都能退換，請問是哪一件商品呢？",
    "我幫您查過了，包裹目前在配送途中。",
)
MORE: Final = ("好，謝謝您。", "那我再等等看。", "可以快一點嗎？", "了解，麻煩您了。", "請問還要等多久？")


def add(shop: "Shop", placed: "Placed") -> None:
    """A conversation of a customer with the assistant: closed, or open and waiting for a person."""
    plan, dice = placed.plan, placed.dice
    begun = plan.waits or (plan.moments.get("delivered") or plan.placed_at) + timedelta(hours=dice.uniform(0.1, 2))
    key, turn = shop.number(Conversation), shop.number(Turn)
    moments = [begun + timedelta(seconds=20 * step) for step in range(plan.talk)]
    for step, at in enumerate(moments):
        by_customer = step % 2 == 0
        words = dice.choice((QUESTIONS if step == 0 else MORE) if by_customer else ANSWERS)
        _say(shop, key, turn, step, at, "customer" if by_customer else "agent", words.format(number=plan.number))
    waits = {"waiting_since": plan.waits, "hand_off_reason": "customer_asked"} if plan.waits else {}
    shop.add(
        Conversation,
        id=key,
        order_id=placed.order,
        customer_id=placed.customer,
        state="open" if plan.waits else "closed",
        needs_person=bool(plan.waits),
        last_event=len(moments),
        created_at=begun,
        updated_at=moments[-1],
        **waits,
    )
    done = {"queued_at": begun, "started_at": begun, "first_text_at": moments[-1], "finished_at": moments[-1]}
    shop.add(Turn, id=turn, conversation_id=key, state="done", steps=1, **done)


def _say(shop: "Shop", talk: int, turn: int, step: int, at: Any, author: str, text: str) -> None:
    message = shop.number(Message)
    shop.add(
        Message,
        id=message,
        conversation_id=talk,
        turn_id=turn if author == "agent" else None,
        author=author,
        content=[{"type": "text", "text": text}],
        created_at=at,
    )
    data = {"message_id": message, "author": author, "name": "", "text": text, "at": at.isoformat()}
    shop.add(ConversationEvent, conversation_id=talk, number=step + 1, kind="message", data=data, created_at=at)
