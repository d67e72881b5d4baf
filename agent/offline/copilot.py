"""The stand-in as the staff's copilot: rules that read a question and tool results as a model would.

It knows the customer, the orders and the payments from results alone, goes through every page, and tells what it found
without judging. Text inside results is never read as an instruction: only the colleague's own words are.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from agent.offline.copilot_payments import report
from agent.offline.copilot_reading import CHINESE, Question, Result, questions
from agent.offline.copilot_words import DRAFTS, say
from agent.offline.replies import Reply, ToolUse

ENGLISH: Final = re.compile(r"[A-Za-z]{2,} [A-Za-z]+ [A-Za-z]+")
TWICE: Final = re.compile(
    r"[兩二2]次|重複(?:付|扣|刷|請|收)|多扣|多刷|雙重|twice|double|duplicate|two times", re.IGNORECASE
)
DRAFT: Final = re.compile(r"草稿|擬|幫我回|怎麼回|\bdraft|\bsuggest", re.IGNORECASE)
QUOTE: Final = re.compile(r"試算|會退多少|可以退多少|\bquote|would .*refund|refund be|come to", re.IGNORECASE)
TICKETS: Final = re.compile(
    r"對話|寫了什麼|說了什麼|工單|\btickets?\b|\bconversations?\b|\bwrote\b|\bwrites\b", re.IGNORECASE
)
ACT: Final = re.compile(
    r"幫.*退款|直接退|退.*給(?:他|她|顧客|客人)|送出|寄出|取消訂單"
    r"|\brefund (?:him|her|them|it|this|order|the)|\bsend (?:it|the)|\bcancel",
    re.IGNORECASE,
)
EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
CUSTOMER_ID: Final = re.compile(r"\bc-[\w-]+", re.ASCII)
ORDER: Final = re.compile(r"(?:訂單|order)\s*#?\s*([A-Za-z0-9-]*\d[A-Za-z0-9-]*)", re.IGNORECASE)
CHINESE_NAME: Final = re.compile(
    r"(?:顧客|客人|會員|幫我查|請查|查一下|did|customer|has|about)?\s*[「“\"]?([\u4e00-\u9fff]{2,4}?)[」”\"]?"
    r"\s*(?=最近|這|過去|在|有沒有|有無|是否|是不是|上個?|兩週|pay|paid|been|in the|over|,|，|寫|說|的|\d)"
)
LATIN_NAME: Final = re.compile(
    r"(?:[Dd]id|[Hh]as|[Cc]ustomer|[Ww]as|of|about) ((?:[A-Z][\w'-]+ ?){1,3})(?=pay|paid|been|was|in|,|\?)"
)
NOT_A_NAME: Final = re.compile(
    r"顧客|客人|會員|這位|這個|訂單|付款|對話|最近|過去|是否|請|幫|查|重複|他|她|[週周天日月年次內]|星期"
)
NUMBERS: Final = {"一": 1, "兩": 2, "二": 2, "三": 3, "四": 4, "one": 1, "two": 2, "three": 3, "four": 4, "a": 1}
PERIOD: Final = re.compile(
    r"(\d{1,3}|[一兩二三四]|one|two|three|four|\ba)\s*個?\s*(週|周|星期|禮拜|weeks?|天|日|days?|月|months?)",
    re.IGNORECASE,
)
DAYS_OF: Final = {"週": 7, "周": 7, "星": 7, "禮": 7, "w": 7, "天": 1, "日": 1, "d": 1, "月": 31, "m": 31}
USUAL_DAYS: Final = 14
ORDINALS: Final = (r"第一|first\b|\b1st", r"第二|second\b|\b2nd", r"第三|third\b|\b3rd")
MOST_TICKETS: Final = 5


def answer(body: Mapping[str, Any]) -> Reply:
    """What the copilot says or calls next."""
    asked = questions(body)
    return Copilot(asked).reply()


class Copilot:
    """One reply to the newest of the questions."""

    def __init__(self, asked: list[Question]) -> None:
        self.question = asked[-1]
        self.before = asked[:-1]
        # An answer to "which of them?" goes on with what had been asked.
        self.chosen = self._chosen()
        self.wish = self.before[-1].text if self.chosen and self.before else self.question.text
        # A Chinese name makes no Chinese sentence.
        self.chinese = bool(CHINESE.search(self.wish)) and not ENGLISH.search(self.wish)

    def say(self, phrase: str, **values: Any) -> str:
        return say(self.chinese, phrase, **values)

    def reply(self) -> Reply:
        if DRAFT.search(self.wish):
            return self.draft()
        if TWICE.search(self.wish):
            return self.paid_twice()
        if QUOTE.search(self.wish):
            return self.quote()
        if ACT.search(self.wish):
            return Reply(self.say("cannot_act"))
        if TICKETS.search(self.wish):
            return self.tickets()
        return Reply(self.say("help"))

    # --- whom it is about ---

    def customer(self) -> str | Reply:
        """The customer's number, or what has to be done first."""
        if self.chosen:
            return self.chosen
        if found := CUSTOMER_ID.search(self.wish):
            return found[0]
        query = self._named()
        if query is None:
            known = self.question.customer or self._spoken_of()
            return known or Reply(self.say("who"))
        result = self.question.last("customers_search")
        if result is None:
            return Reply(self.say("looking_customer"), (ToolUse("customers_search", {"query": query}),))
        if result.is_error:
            return self.failed(result)
        if result.data.get("status") == "found":
            return str(result.data["customers"][0]["customer_id"])
        if result.data.get("status") == "needs_choice":
            return self.which(query, result)
        return Reply(self.say("nobody", query=query))

    def which(self, query: str, result: Result) -> Reply:
        choices = result.data["choices"]
        lines = [self.say("which", count=len(choices), query=query)]
        for each in choices:
            lines.append(
                self.say(
                    "choice",
                    customer_id=each["customer_id"],
                    email=each["email"] or self.say("none_known"),
                    phone=each["phone_end"] or self.say("none_known"),
                    orders=each["orders"],
                    first=each["first_order_on"] or self.say("none_known"),
                )
            )
        return Reply("\n".join(lines))

    def _named(self) -> str | None:
        if found := EMAIL.search(self.wish):
            return found[0]
        for found in CHINESE_NAME.finditer(self.wish):
            if not NOT_A_NAME.search(found[1]):
                return found[1]
        latin = LATIN_NAME.search(self.wish)
        return latin[1].strip() if latin else None

    def _spoken_of(self) -> str | None:
        """Of whom the thread has spoken before."""
        for question in reversed(self.before):
            for result in reversed(question.results):
                if result.name == "orders_search" and not result.is_error:
                    return str(result.asked.get("customer_id", "")) or None
        return None

    def _chosen(self) -> str | None:
        """Which of the people offered in the question before is meant now."""
        result = self.before[-1].last("customers_search") if self.before else None
        if result is None or result.data.get("status") != "needs_choice":
            return None
        text, choices = self.question.text, result.data["choices"]
        for place, each in enumerate(choices):
            ordinal = ORDINALS[place] if place < len(ORDINALS) else r"$^"
            number = re.escape(str(each["customer_id"]))
            if re.search(rf"(?<![\w-]){number}(?![\w-])", text) or re.search(ordinal, text, re.IGNORECASE):
                return str(each["customer_id"])
        for each in choices:
            end = each.get("phone_end")
            if (each["email"] and each["email"] in text) or (end and re.search(rf"{end}\b", text)):
                return str(each["customer_id"])
        return None

    # --- paid twice ---

    def paid_twice(self) -> Reply:
        customer = self.customer()
        if isinstance(customer, Reply):
            return customer
        pages = self.question.all("orders_search")
        if pages and pages[-1].is_error:
            return self.failed(pages[-1])
        if not pages or pages[-1].data.get("has_more"):
            cursor = pages[-1].data["next_cursor"] if pages else None
            asked = {
                "customer_id": customer,
                "created_from": self.begin().isoformat(),
                "created_before": None,
                "page_size": None,
                "cursor": cursor,
            }
            return Reply(self.say("more_orders" if pages else "looking_orders"), (ToolUse("orders_search", asked),))
        return report(self.question, pages, self.chinese, begin=self.begin())

    def begin(self) -> datetime:
        """Midnight, so many days ago, in the zone that the colleague was told."""
        now = self.question.now or datetime.now().astimezone()
        days = USUAL_DAYS
        if found := PERIOD.search(self.wish):
            count = NUMBERS.get(found[1].lower()) or int(found[1])
            days = count * DAYS_OF[found[2][0].lower()]
        return (now - timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)

    # --- the others ---

    def quote(self) -> Reply:
        order = ORDER.search(self.wish)
        if order is None:
            return Reply(self.say("which_order"))
        seen = self.question.last("orders_get_payment_context")
        if seen is None:
            asked = {"order_number": order[1]}
            return Reply(self.say("looking_payments"), (ToolUse("orders_get_payment_context", asked),))
        quoted = self.question.last("quote_refund")
        for result in (seen, quoted):
            if result is not None and result.is_error:
                return self.failed(result)
        if quoted is None:
            lines = [line for line in seen.data.get("lines") or () if line["name"] in self.wish]
            if not lines:
                return Reply(self.say("which_order"))
            chosen = [
                {"line_item_id": line["line_item_id"], "quantity": 1, "reason": "changed_mind", "action": None}
                for line in lines
            ]
            return Reply("", (ToolUse("quote_refund", {"order_number": order[1], "lines": chosen}),))
        return Reply(self.say("quoted", order=order[1], amount=quoted.data["display"], why=quoted.data["explanation"]))

    def tickets(self) -> Reply:
        result = self.question.last("tickets_search")
        if result is None:
            order = ORDER.search(self.wish)
            customer = None if order or self.question.conversation else self.customer()
            if isinstance(customer, Reply):
                return customer
            here = None if order or customer else self.question.conversation
            return Reply(self.say("reading"), (self._tickets(here, customer, order[1] if order else None),))
        if result.is_error:
            return self.failed(result)
        found = result.data["tickets"]
        if not found:
            return Reply(self.say("no_tickets"))
        lines = [self.say("tickets", count=len(found)), *map(self._ticket, found[:MOST_TICKETS])]
        return Reply("\n".join(lines))

    def _tickets(self, conversation: int | None, customer: str | None, order: str | None) -> ToolUse:
        asked: dict[str, Any] = {"conversation_id": conversation, "customer_id": customer, "order_number": order}
        return ToolUse("tickets_search", {**asked, "state": None, "page_size": None, "cursor": None})

    def _ticket(self, ticket: Mapping[str, Any]) -> str:
        last = ticket["messages"][-1]["text"] if ticket["messages"] else ""
        return self.say(
            "ticket",
            number=ticket["conversation_id"],
            order=ticket["order_number"],
            state=ticket["state"],
            text=" ".join(last.split())[:80],
        )

    def draft(self) -> Reply:
        here = self.question.conversation
        if here is None:
            return Reply(self.say("no_conversation"))
        read, kept = self.question.all("tickets_search"), self.question.last("draft_reply")
        if read and read[-1].is_error:
            return self.failed(read[-1])
        again = kept is not None and kept.data.get("code") == "conversation_moved_on" and len(read) < 2
        if not read or again:
            return Reply(self.say("reading"), (self._tickets(here, None, None),))
        ticket = read[-1].data["tickets"][0]
        drafted = self.question.all("draft_reply")
        if len(drafted) < len(read):
            text = DRAFTS["zh-hant" if ticket["language"].startswith("zh") else "en"]
            asked = {
                "conversation_id": here,
                "read_to": ticket["read_to"],
                "text": text.format(order=ticket["order_number"]),
            }
            return Reply(self.say("drafting"), (ToolUse("draft_reply", asked),))
        if drafted[-1].is_error:
            return Reply(self.say("no_draft", message=drafted[-1].data.get("message", "")))
        return Reply(self.say("drafted", order=ticket["order_number"]))

    def failed(self, result: Result) -> Reply:
        parts = [str(result.data.get("message", "")), str(result.data.get("hint", ""))]
        return Reply(self.say("error", message=" ".join(part for part in parts if part)))
