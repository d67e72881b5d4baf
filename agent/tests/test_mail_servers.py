"""What a mail server refuses: for good or for now, and what the log says of it."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings
from structlog.testing import capture_logs

from agent import mails, people
from agent.models import CustomerMail
from agent.states import MailState
from agent.tests.helpers import hear, talk
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "ming@example.com"


class MailServer(socketserver.ThreadingTCPServer):
    """Takes one recipient after the other and says `answer` to each."""

    daemon_threads = True
    answer = ""


class Talk(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 ready")
        for line in self.rfile:
            command = line[:4].upper()
            if command == b"QUIT":
                self._say("221 bye")
                return
            self._say(self.server.answer if command == b"RCPT" else "250 fine")

    def _say(self, answer: str) -> None:
        self.wfile.write(f"{answer}\r\n".encode())


@contextmanager
def mail_server(settings: Settings, answer: str) -> Iterator[None]:
    with MailServer(("127.0.0.1", 0), Talk) as server:
        server.answer = answer
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.server_address[1]
        worker = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        worker.start()
        try:
            yield
        finally:
            server.shutdown()
            worker.join()


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    order.customer.email = ADDRESS
    order.customer.save()
    hear(order)
    people.reply(conversation=talk(order), actor=cast.staff(), text="We are looking into it.")
    CustomerMail.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    return order


def test_an_address_that_the_server_refuses_for_good_is_tried_once(order: Order, settings: Settings) -> None:
    with mail_server(settings, f"550 no {ADDRESS} here"):
        assert mails.send_due() == 0
    row = CustomerMail.objects.get()
    assert (row.state, row.tries) == (MailState.FAILED, 1)
    assert AuditEvent.objects.filter(action="mail.failed", subject_id=str(talk(order).pk)).count() == 1


def test_an_address_that_the_server_refuses_for_now_is_tried_again(order: Order, settings: Settings) -> None:
    with mail_server(settings, f"451 {ADDRESS} later"):
        assert mails.send_due() == 0
    row = CustomerMail.objects.get()
    assert (row.state, row.tries) == (MailState.WAITING, 1)
    assert row.not_before > timezone.now()


@pytest.mark.parametrize("code", [451, 550])
def test_the_row_and_its_history_keep_the_kind_of_fault_and_no_word_of_the_servers(
    order: Order, settings: Settings, code: int
) -> None:
    CustomerMail.objects.update(tries=len(mails.PAUSES))
    with mail_server(settings, f"{code} <{ADDRESS}> of Ming Street 5 is not here"):
        mails.send_due()
    row = CustomerMail.objects.get()
    assert row.error == f"SMTPRecipientsRefused {code} (m…@example.com)"
    assert AuditEvent.objects.get(action="mail.failed").outcome["error"] == row.error


@pytest.mark.parametrize("code", [451, 550])
@pytest.mark.usefixtures("order")
def test_the_log_names_the_kind_of_fault_and_nobodys_address(settings: Settings, code: int) -> None:
    with mail_server(settings, f"{code} {ADDRESS} not now"), capture_logs() as logs:
        mails.send_due()
    (line,) = [each for each in logs if each["event"] == "mail.not_sent"]
    assert (line["error"], line["code"]) == ("SMTPRecipientsRefused", code)
    assert "example.com" not in str(logs)
