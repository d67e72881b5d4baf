"""The addresses of refunds below /api/v1/."""

from django.urls import path

from orders import converters  # noqa: F401  (registers `order_number`)
from refunds import api

urlpatterns = [
    path("orders/<order_number:order_number>/refund-quotes/", api.OrderQuotesView.as_view(), name="api-order-quotes"),
    path("refund-quotes/", api.QuotesView.as_view(), name="api-quotes"),
    path("refund-quotes/<str:quote_id>/", api.QuoteView.as_view(), name="api-quote"),
    path("refund-quotes/<str:quote_id>/redeem/", api.RedeemView.as_view(), name="api-quote-redeem"),
    path("refund-quotes/<str:quote_id>/decline/", api.DeclineView.as_view(), name="api-quote-decline"),
    path("refunds/", api.RefundsView.as_view(), name="api-refunds"),
    path("refunds/<str:refund_id>/", api.RefundView.as_view(), name="api-refund"),
    path("refunds/<str:refund_id>/retry/", api.RetryView.as_view(), name="api-refund-retry"),
    path("refunds/<str:refund_id>/settle/", api.SettleView.as_view(), name="api-refund-settle"),
    path("refunds/<str:refund_id>/approve/", api.ApproveView.as_view(), name="api-refund-approve"),
    path("refunds/<str:refund_id>/reject/", api.RejectView.as_view(), name="api-refund-reject"),
]
