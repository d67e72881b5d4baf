"""The addresses of refunds below /api/v1/."""

from django.urls import path

from orders import converters  # noqa: F401  (registers `order_number`)
from refunds.api import policies, quotes, refunds

urlpatterns = [
    path(
        "orders/<order_number:order_number>/refund-quotes/", quotes.OrderQuotesView.as_view(), name="api-order-quotes"
    ),
    path("refund-quotes/", quotes.QuotesView.as_view(), name="api-quotes"),
    path("refund-quotes/<str:quote_id>/", quotes.QuoteView.as_view(), name="api-quote"),
    path("refund-quotes/<str:quote_id>/redeem/", quotes.RedeemView.as_view(), name="api-quote-redeem"),
    path("refund-quotes/<str:quote_id>/decline/", quotes.DeclineView.as_view(), name="api-quote-decline"),
    path("refunds/", refunds.RefundsView.as_view(), name="api-refunds"),
    path("refunds/<str:refund_id>/", refunds.RefundView.as_view(), name="api-refund"),
    path("refunds/<str:refund_id>/retry/", refunds.RetryView.as_view(), name="api-refund-retry"),
    path("refunds/<str:refund_id>/settle/", refunds.SettleView.as_view(), name="api-refund-settle"),
    path("refunds/<str:refund_id>/approve/", refunds.ApproveView.as_view(), name="api-refund-approve"),
    path("refunds/<str:refund_id>/reject/", refunds.RejectView.as_view(), name="api-refund-reject"),
    path("refund-policies/", policies.PoliciesView.as_view(), name="api-policies"),
    path("refund-policies/<str:currency>/<int:version>/", policies.PolicyView.as_view(), name="api-policy"),
    path(
        "refund-policies/<str:currency>/<int:version>/publish/",
        policies.PublishView.as_view(),
        name="api-policy-publish",
    ),
]
