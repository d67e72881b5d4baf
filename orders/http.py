"""How a client wants to be answered: one rule for every address that serves people and programs alike."""

from django.http import HttpRequest


def wants_json(request: HttpRequest) -> bool:
    """Browsers say that they accept HTML, or that htmx asks for them. Everybody else, and whoever is below /api/, is a
    program: it gets JSON, also if it says nothing or accepts anything."""
    if request.path.startswith("/api/"):
        return True
    return "text/html" not in request.headers.get("Accept", "") and "HX-Request" not in request.headers
