"""What every page knows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    return {"shop_name": settings.SHOP_NAME, "agent_is_stand_in": settings.AGENT_IS_STAND_IN}
