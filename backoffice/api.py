"""What all API views share: pages, and the one error object."""

from typing import Any

from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import exception_handler


class Pages(PageNumberPagination):
    page_size_query_param = "page_size"
    max_page_size = 100


def one_error_object(error: Exception, context: dict[str, Any]) -> Response | None:
    return exception_handler(error, context)
