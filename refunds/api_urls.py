"""The addresses of refunds below /api/v1/."""

from django.urls import path

from orders import converters  # noqa: F401  (registers `order_number`)
from refunds.api import alerts, approvals, compensations, elsewhere, policies, quotes, refunds, replacements, returns

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
    path("refunds/<str:refund_id>/admit-failure/", refunds.AdmitFailureView.as_view(), name="api-refund-admit-failure"),
    path("refunds/<str:refund_id>/paid-by-hand/", elsewhere.ByHandView.as_view(), name="api-refund-by-hand"),
    path("refunds/<str:refund_id>/undo/", elsewhere.UndoView.as_view(), name="api-refund-undo"),
    path("refunds/<str:refund_id>/assign/", elsewhere.AssignView.as_view(), name="api-refund-assign"),
    path("refunds/<str:refund_id>/approve/", refunds.ApproveView.as_view(), name="api-refund-approve"),
    path("refunds/<str:refund_id>/reject/", refunds.RejectView.as_view(), name="api-refund-reject"),
    path("alerts/", alerts.AlertsView.as_view(), name="api-alerts"),
    path("alerts/<int:alert_id>/settle/", alerts.AlertSettleView.as_view(), name="api-alert-settle"),
    path("books/", alerts.BooksView.as_view(), name="api-books"),
    path("approvals/", approvals.ApprovalsView.as_view(), name="api-approvals"),
    path("approvals/<str:approval_id>/", approvals.ApprovalView.as_view(), name="api-approval"),
    path("approvals/<str:approval_id>/approve/", approvals.ApproveView.as_view(), name="api-approval-approve"),
    path("approvals/<str:approval_id>/reject/", approvals.RejectView.as_view(), name="api-approval-reject"),
    path(
        "orders/<order_number:order_number>/compensations/",
        compensations.OrderCompensationsView.as_view(),
        name="api-order-compensations",
    ),
    path(
        "orders/<order_number:order_number>/overrides/",
        approvals.OrderOverridesView.as_view(),
        name="api-order-overrides",
    ),
    path(
        "orders/<order_number:order_number>/refunds-elsewhere/",
        elsewhere.OrderElsewhereView.as_view(),
        name="api-order-refunds-elsewhere",
    ),
    path("refund-policies/", policies.PoliciesView.as_view(), name="api-policies"),
    path("refund-policies/<str:currency>/<int:version>/", policies.PolicyView.as_view(), name="api-policy"),
    path(
        "refund-policies/<str:currency>/<int:version>/publish/",
        policies.PublishView.as_view(),
        name="api-policy-publish",
    ),
    path(
        "refund-policies/<str:currency>/<int:version>/withdraw/",
        policies.WithdrawView.as_view(),
        name="api-policy-withdraw",
    ),
    path(
        "orders/<order_number:order_number>/returns/eligibility/",
        returns.EligibilityView.as_view(),
        name="api-order-eligibility",
    ),
    path(
        "orders/<order_number:order_number>/exchanges/",
        returns.OrderExchangesView.as_view(),
        name="api-order-exchanges",
    ),
    path("returns/", returns.ReturnsView.as_view(), name="api-returns"),
    path("returns/<str:return_id>/", returns.ReturnView.as_view(), name="api-return"),
    path("returns/<str:return_id>/receive/", returns.ReceiveView.as_view(), name="api-return-receive"),
    path("returns/<str:return_id>/accept/", returns.AcceptView.as_view(), name="api-return-accept"),
    path("returns/<str:return_id>/reject/", returns.RejectView.as_view(), name="api-return-reject"),
    path("returns/<str:return_id>/withdraw/", returns.WithdrawView.as_view(), name="api-return-withdraw"),
    path(
        "returns/<str:return_id>/send-replacement/",
        returns.SendReplacementView.as_view(),
        name="api-return-send-replacement",
    ),
    path(
        "orders/<order_number:order_number>/resends/",
        replacements.OrderResendsView.as_view(),
        name="api-order-resends",
    ),
    path("replacements/", replacements.ReplacementsView.as_view(), name="api-replacements"),
    path("replacements/<str:replacement_id>/", replacements.ReplacementView.as_view(), name="api-replacement"),
    path(
        "replacements/<str:replacement_id>/send/",
        replacements.ReplacementSendView.as_view(),
        name="api-replacement-send",
    ),
    path(
        "replacements/<str:replacement_id>/release/",
        replacements.ReplacementReleaseView.as_view(),
        name="api-replacement-release",
    ),
]
