"""Addresses of the pages that put order, chat and refunds together: the customer's and the staff's."""

from django.urls import include, path

from backoffice.screens import cards, conversations, customer, links, orders, queue, quotes, refunds, returns, shipments
from orders.converters import ORDER_NUMBER  # noqa: F401  importing it registers `order_number`

staff = [
    path("", queue.queue, name="staff-queue"),
    path("conversations/<int:conversation_id>/", conversations.conversation, name="staff-conversation"),
    path("conversations/<int:conversation_id>/log/", conversations.log, name="staff-conversation-log"),
    path("conversations/<int:conversation_id>/take-over/", conversations.take_over, name="staff-take-over"),
    path("conversations/<int:conversation_id>/reply/", conversations.reply, name="staff-reply"),
    path("conversations/<int:conversation_id>/give-back/", conversations.give_back, name="staff-give-back"),
    path("conversations/<int:conversation_id>/close/", conversations.close, name="staff-close"),
    path("orders/", orders.order_list, name="staff-orders"),
    path("orders/<order_number:number>/", orders.order_page, name="staff-order"),
    path("orders/<order_number:number>/refunds/", orders.refunds_part, name="staff-order-refunds"),
    path("orders/<order_number:number>/quote/", quotes.quote, name="staff-quote"),
    path("orders/<order_number:number>/pack/", shipments.pack, name="staff-pack"),
    path("orders/<order_number:number>/customer-link/", links.make, name="staff-link"),
    path("orders/<order_number:number>/customer-link/<int:link_id>/revoke/", links.revoke, name="staff-link-revoke"),
    path("shipments/<str:shipment_id>/ship/", shipments.ship, name="staff-ship"),
    path("shipments/<str:shipment_id>/deliver/", shipments.deliver, name="staff-deliver"),
    path("refunds/", refunds.to_look_at, name="staff-refunds"),
    path("refunds/<str:refund_id>/retry/", refunds.send_again, name="staff-refund-retry"),
    path("refunds/<str:refund_id>/settled/", refunds.settled, name="staff-refund-settled"),
    path("approvals/", refunds.waiting, name="staff-approvals"),
    path("approvals/<str:refund_id>/approve/", refunds.approve, name="staff-approve"),
    path("approvals/<str:refund_id>/reject/", refunds.reject, name="staff-reject"),
    path("returns/", returns.return_list, name="staff-returns"),
    path("returns/<str:return_id>/receive/", returns.receive, name="staff-return-receive"),
    path("returns/<str:return_id>/accept/", returns.accept, name="staff-return-accept"),
    path("returns/<str:return_id>/send-replacement/", returns.send_replacement, name="staff-return-replace"),
    path("returns/<str:return_id>/withdraw/", returns.withdraw, name="staff-return-withdraw"),
    path("returns/<str:return_id>/reject/", returns.reject, name="staff-return-reject"),
]

urlpatterns = [
    path("orders/", customer.order_list, name="orders"),
    path("orders/<order_number:number>/", customer.order_page, name="order"),
    path("orders/<order_number:number>/side/", customer.order_side, name="order-side"),
    path("orders/<order_number:number>/returns/<str:return_id>/withdraw/", customer.withdraw, name="return-withdraw"),
    path("orders/<order_number:number>/chat/cards/<str:card_id>/confirm/", cards.confirm, name="card-confirm"),
    path("orders/<order_number:number>/chat/cards/<str:card_id>/decline/", cards.decline, name="card-decline"),
    path("staff/", include(staff)),
]
