"""What `refunds` tells whoever listens, always after commit. Listeners look the row up: a signal only says "look"."""

from django.dispatch import Signal

# quote_id: str. The quote has ended: it was redeemed, declined or superseded, has expired, or its order had changed.
# A refusal that leaves it open (somebody else is at the order, a person is needed) tells nobody.
quote_ended = Signal()
# refund_id: str. The refund has another state: sent, paid, refused, being checked, approved, rejected.
refund_moved = Signal()
# return_id: str. The return authorisation has another state.
return_moved = Signal()
# replacement_id: str. Goods are to be sent in the place of others, were sent, or are not sent after all.
replacement_moved = Signal()
# approval_id: str. A second person has said yes or no, or nobody has decided in time.
approval_ended = Signal()
# alert_id: str. Staff must see to something although nobody asked.
alert_raised = Signal()
