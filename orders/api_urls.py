"""The addresses of orders below /api/v1/."""

from django.urls import path

from orders import api, api_products, api_store_credit, converters  # noqa: F401  (converters: registers `order_number`)

urlpatterns = [
    path("orders/", api.OrdersView.as_view(), name="api-orders"),
    path("orders/<order_number:order_number>/", api.OrderView.as_view(), name="api-order"),
    path("orders/<order_number:order_number>/shipments/", api.ShipmentsView.as_view(), name="api-shipments"),
    path(
        "orders/<order_number:order_number>/shipping-address/",
        api.ShippingAddressView.as_view(),
        name="api-shipping-address",
    ),
    path("orders/<order_number:order_number>/customer-link/", api.CustomerLinksView.as_view(), name="api-links"),
    path(
        "orders/<order_number:order_number>/customer-link/<int:link_id>/",
        api.CustomerLinkView.as_view(),
        name="api-link",
    ),
    path("products/", api_products.ProductsView.as_view(), name="api-products"),
    path("products/<str:product_id>/", api_products.ProductView.as_view(), name="api-product"),
    path(
        "customers/<str:external_id>/store-credit/",
        api_store_credit.StoreCreditView.as_view(),
        name="api-store-credit",
    ),
]
