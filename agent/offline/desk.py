"""The stand-in at work on goods: read the order, understand, quote, ask for the press, tell how it ended.

Every request is thought through anew from the conversation. Nothing is remembered between requests, as in a real model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.offline import telling
from agent.offline.deciding import QUOTED, Decision, decide, groups
from agent.offline.goods import Line, lines_of, named_in
from agent.offline.outcomes import Ledger, keys_of
from agent.offline.phrases import PHRASES
from agent.offline.reading import Conversation, Said
from agent.offline.replies import Reply, ToolUse
from agent.offline.shopping import Instead, fitting, found_by, next_search, searches_for, wanted_instead
from agent.offline.speech import Speech
from agent.offline.wishes import Heard, understand
from agent.offline.words import EVERYTHING, intents_in

Data = Mapping[str, Any]
MOST_ANSWERS = 30
# What is sent anew needs no quote.
ANEW = frozenset({"exchange", "resend"})
LOOKS = {"list_shipments": "look_parcels", "list_refunds": "look_refunds", "search_products": "look_products"}


class Desk:
    """One turn about goods. `wish` are the customer's words to act on, `before` those of the turn before."""

    def __init__(self, conversation: Conversation, speech: Speech, *, wish: str, before: str, haggles: bool) -> None:
        self.conversation, self.speech = conversation, speech
        self.wish, self.before, self.haggles = wish, before, haggles
        self.ledger = Ledger(conversation.answers, {})
        self.lines: list[Line] = []
        self.answers_a_question = False

    def reply(self) -> Reply:
        if len(self.ledger.answers) > MOST_ANSWERS:
            return self.give_up("trouble")
        order = self.ledger.order
        if order is None:
            return self.read_order()
        lines = self.lines = lines_of(order)
        names = {line.line_item_id: line.title for line in lines}
        self.ledger = Ledger(self.conversation.answers, names, self.conversation.news)
        if self.haggles and not named_in(self.wish, lines) and not EVERYTHING.search(self.wish):
            return Reply(self.speech.join([self.speech.say("amounts_are_worked_out"), self.speech.say("offer_person")]))
        heard = understand(self.wish, self.before, lines, asked_about_lost=self.asked_about_lost)
        self.answers_a_question = not intents_in(self.wish)
        decisions = self.decisions(heard, lines)
        if not decisions:
            return self.ask_which(heard, lines)
        return self.work(decisions)

    @property
    def asked_about_lost(self) -> bool:
        ends = [words.split("{goods}")[-1][-12:] for words in PHRASES["lost_choice"]]
        return any(end in self.conversation.last_words for end in ends)

    def decisions(self, heard: Heard, lines: Sequence[Line]) -> list[Decision]:
        """What to do for each named line, in the order's order."""
        wished = [(heard.wishes[line.line_item_id], line) for line in lines if line.line_item_id in heard.wishes]
        return [one for wish, line in wished for one in decide(wish, line)]

    def work(self, decisions: Sequence[Decision]) -> Reply:
        settled = self.ledger.settled()
        left = [one for one in decisions if one.key not in settled]
        group = next(iter(groups(left)), [])
        quote = self.ledger.quote_for(group) if group else None
        looks = self.looks(left)
        if looks or (group and quote is None):
            return self.look(group if quote is None else [], [one for one in left if one.kind in ANEW], looks)
        left = [self.with_product(one) for one in left]
        if quote is not None or any(one.kind in ANEW for one in left):
            return self.ask(quote, group, left)
        return self.tell(left)

    # --- exchanges for something else ---

    def instead(self, one: Decision) -> Instead:
        said = f"{self.before}\n{self.wish}" if self.answers_a_question else self.wish
        return wanted_instead(said, one.line, self.lines) if one.kind == "exchange" else Instead()

    def searches(self, one: Decision) -> list[dict[str, Any]]:
        """How to look for what the customer wants instead; [] if it is the same again."""
        return searches_for(self.instead(one).searches, one.line)

    def with_product(self, one: Decision) -> Decision:
        """The exchange with the product that was found, or what stands in the way of it."""
        searches = self.searches(one)
        if not searches:
            return one
        instead, said = self.instead(one), f"{self.before}\n{self.wish}"
        kind, found = fitting(found_by(self.ledger, searches), one.line, said, instead.name)
        is_sure = bool(found_by(self.ledger, searches[: instead.sure]))
        if kind == "exchange" and is_sure:
            return replace(one, product=found[0])
        kind = "which_product" if kind == "exchange" else kind
        return replace(one, kind=kind, found=found)

    # --- looking ---

    def read_order(self) -> Reply:
        tried = [answer for answer in self.ledger.answers if answer.name == "get_order"]
        failed = [answer for answer in tried if answer.is_error]
        if "get_order" not in self.conversation.tools or len(failed) > 1:
            return self.give_up("cannot_look")
        if failed and not failed[-1].data.get("retryable"):
            return self.give_up("cannot_look")
        return Reply(self.speech.say("look_again" if tried else "look"), (ToolUse("get_order"),))

    def looks(self, left: Sequence[Decision]) -> list[ToolUse]:
        """Reading tools that are needed to say where goods are or when money went back."""
        parcels = any(one.kind == "track" or one.state == "shipped" for one in left)
        money = any(one.kind == "blocked" and one.state in {"refunded", "cancelled"} for one in left)
        wanted = [name for name, need in (("list_shipments", parcels), ("list_refunds", money)) if need]
        uses = [ToolUse(name) for name in wanted if self.ledger.last(name) is None]
        products = [next_search(self.ledger, self.searches(one)) for one in left]
        uses += [ToolUse("search_products", dict(each)) for each in products if each]
        return [use for use in uses if use.name in self.conversation.tools]

    def look(self, group: Sequence[Decision], anew: Sequence[Decision], looks: Sequence[ToolUse]) -> Reply:
        """Say what was understood, and ask for a quote and for what else has to be known."""
        speech = self.speech
        told = [speech.say(f"can_{one.kind}", goods=speech.goods([one])) for one in (*anew, *group)] if group else []
        calls = list(looks)
        if group:
            calls.insert(0, ToolUse("quote_refund", {"lines": [one.to_quote() for one in group]}))
            told.append(speech.say("quoting"))
        else:
            told.append(speech.say(next(LOOKS[use.name] for use in looks)))
        return Reply(self.fresh(told), tuple(calls))

    # --- asking ---

    def ask(self, quote: Data | None, group: Sequence[Decision], left: Sequence[Decision]) -> Reply:
        """The amount and why, and in the same reply the calls that put the buttons there."""
        speech, calls, told = self.speech, [], []
        if quote is not None:
            told.append(telling.offer(speech, quote, group))
            use = {"quote_id": quote["quote_id"]}
            returns = quote.get("action") == "return"
            calls.append(
                ToolUse("create_return", {**use, "exchange_lines": None}) if returns else ToolUse("refund_items", use)
            )
        exchanges = [one for one in left if one.kind == "exchange"]
        resends = [one for one in left if one.kind == "resend"]
        if exchanges:
            told += telling.offer_exchanges(speech, exchanges)
            lines = [one.to_exchange() for one in exchanges]
            calls.append(ToolUse("create_return", {"quote_id": None, "exchange_lines": lines}))
        if resends:
            told.append(speech.say("offer_resend", goods=speech.goods(resends)))
            calls.append(ToolUse("resend_items", {"lines": [one.to_resend() for one in resends]}))
        later = [one for one in left if one.kind in QUOTED and one not in group]
        parts = [self.before_this(), speech.join(told), *self.notes(left)]
        parts.append(speech.say("press_all" if len(calls) > 1 else "press"))
        parts.append(speech.say("then_next", goods=speech.goods(later)) if later else "")
        if self.haggles:
            parts.insert(0, speech.say("amounts_are_worked_out"))
        return Reply(speech.paragraphs(parts), tuple(calls))

    def before_this(self) -> str:
        """What has ended in this turn, before something else is asked."""
        return self.speech.paragraphs([telling.outcome(self.speech, end) for end in self.ledger.told()])

    # --- telling ---

    def tell(self, left: Sequence[Decision]) -> Reply:
        speech = self.speech
        ends = self.ledger.told()
        parts = [telling.outcome(speech, end) for end in ends] + self.refused_quotes()
        if any(end.answer.is_error for end in ends) or self.refused_quotes():
            parts.append(speech.say("offer_person"))
        if self.haggles and not ends:
            parts.insert(0, speech.say("amounts_are_worked_out"))
        said = "\n".join(self.said())
        new = [part for part in (*parts, *self.notes(left)) if part not in said]
        return Reply(speech.paragraphs(new) or speech.say("trouble"))

    def notes(self, left: Sequence[Decision]) -> list[str]:
        listed, paid = self.ledger.last("list_shipments"), self.ledger.last("list_refunds")
        parcels = (listed.data.get("shipments") or ()) if listed else ()
        refunds = (paid.data.get("refunds") or ()) if paid else ()
        others = [one for one in left if one.kind not in telling.MISSED]
        notes = [telling.note(self.speech, one, parcels=parcels, refunds=refunds) for one in others]
        return [telling.missed(self.speech, left, parcels), *notes]

    def refused_quotes(self) -> list[str]:
        settled = self.ledger.settled()
        told = []
        for answer in self.ledger.quote_failures():
            lines = answer.input.get("lines") or []
            goods = [(self.ledger.names.get(str(line["line_item_id"]), ""), int(line["quantity"])) for line in lines]
            if keys_of(lines) <= settled:
                message = answer.data.get("message") or self.speech.say("trouble")
                told.append(self.speech.say("failed", goods=self.speech.listed(goods), message=message))
        return list(dict.fromkeys(told))

    def ask_which(self, heard: Heard, lines: Sequence[Line]) -> Reply:
        speech = self.speech
        meant = [line for line in lines if line.line_item_id in heard.unclear] or lines
        names = speech.listed([(line.title, 1) for line in meant])
        wanted = "which_for" if heard.loose else "which"
        return Reply(speech.say("which_of" if heard.unclear else wanted, list=names))

    def give_up(self, phrase: str) -> Reply:
        return Reply(self.speech.join([self.speech.say(phrase), self.speech.say("offer_person")]))

    def said(self) -> list[str]:
        """The agent's words of this turn so far."""
        return [
            event.text for event in self.conversation.turns[-1] if isinstance(event, Said) and event.author == "agent"
        ]

    def fresh(self, sentences: Sequence[str]) -> str:
        """The sentences that this turn has not said yet."""
        said = "\n".join(self.said())
        return self.speech.join([sentence for sentence in sentences if sentence not in said])
