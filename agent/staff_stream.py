"""A conversation's events for staff: what the customer's page hears, with the reply that is being written."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from agent import stream
from agent.models import Conversation
from agent.stream import Position

# Nothing comes any more, however often it is asked for: the page does not come back.
END = b"event: end\ndata: {}\n\n"


async def follow(conversation: Conversation, *, may_stay: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
    """From now on; the page draws what was before. Ends for good where the customer goes on in another conversation."""
    mine = f"id: {conversation.pk}-".encode()
    source = stream.follow(
        order_id=conversation.order_id,
        customer_id=conversation.customer_id,
        position=Position(conversation.pk, conversation.last_event),
        may_stay=may_stay,
    )
    async with aclosing(source):  # type: ignore[type-var]
        async for piece in source:
            if piece.startswith(b"id: ") and not piece.startswith(mine):
                yield END
                return
            yield piece
