"""How English says that a person of the shop has been asked, or will come. See `agent/claim_forms.py`."""

from typing import Final

from agent.claim_english_parts import ADVERBS, IT_IS, SIGN, WE_HAVE
from agent.claim_forms import form
from agent.deeds import HAND_OFF, Reach

BEGUN, UNDER_WAY = Reach.BEGUN, Reach.UNDER_WAY
_E, _I, _IS = SIGN, WE_HAVE, IT_IS
_ADV = ADVERBS
_SOMEBODY = (
    r"(?:colleagues?|teammates?|humans?|person|people|agents?|team|supervisors?|managers?|staff|representatives?|rep|specialists?|someone|somebody|"
    r"warehouse|department|operator|member|coworker|associate|"
    r"support(?! (?:hours|page|number|e-?mail|article|centre|center|line)))"
)
_TOLD = (
    r"(?:asked|called|notified|informed|contacted|alerted|told|handed|passed|transferred|forwarded|escalated|"
    r"connected|referred|looped|assigned|flagged|brought|messaged|paged|pinged|requested|reported|routed|summoned|"
    r"reached out|raised|put|let)"
)
_SHALL = (
    r"(?:\b(?:i'll|i will|we'll|we will|let me|i'm going to|i am going to|we're going to|we are going to|i shall) "
    r"(?:now |just |also |quickly |gladly |right away )?)"
)
_WILL_COME = (
    r"(?:answer|reply|contact|reach|take over|get back|be with|join|call|follow up|handle|be in (?:touch|contact)|"
    r"respond|email|"
    r"look (?:at|into)|review|check (?:this|it)|pick (?:this|it|up)|message|phone|ring|"
    r"get in touch|write|help|assist|see to|take (?:it|this|care)|come)"
)

ENGLISH_PEOPLE: Final = (
    form(HAND_OFF, BEGUN, rf"{_I}{_TOLD}\b{_E}{{0,50}}\b{_SOMEBODY}\b"),
    form(
        HAND_OFF,
        BEGUN,
        rf"\b(?:i'm|we're|i am|we are){_ADV} (?:passing|forwarding|escalating|notifying|flagging|sending|reporting) "
        rf"(?:your|this|it|the|our)\b{_E}{{0,40}}\b{_SOMEBODY}\b",
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"\b(?:i'm|we're|i am|we are){_ADV} "
        r"(?:asking|handing|passing|transferring|forwarding|escalating|connecting|getting|calling|bringing|putting|"
        rf"notifying|routing|looping)\b{_E}{{0,50}}\b(?:{_SOMEBODY}|through)\b",
    ),
    form(HAND_OFF, UNDER_WAY, rf"\b(?:i'm|we're|i am|we are){_ADV} (?:transferring|connecting|handing) (?:you|this)\b"),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"\b{_SOMEBODY}\b{_E}{{0,25}}?{_IS}(?:being )?"
        r"(?:brought in|put through|on (?:the|their) way|taking over|joining|joined|coming|here now|connected)\b",
    ),
    form(
        HAND_OFF,
        BEGUN,
        rf"\b{_SOMEBODY}\b{_E}{{0,25}}?{_IS}(?:being )?"
        rf"(?:{_TOLD}|on it|on the case|looking|handling|reviewing|aware|working on)\b",
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"\byou(?:'re| are|'ve| have)(?: been| being)?{_ADV} (?:transferred|connected|handed|passed|put through)\b",
    ),
    form(
        HAND_OFF,
        BEGUN,
        rf"{_IS}(?:being )?(?:handed|passed|forwarded|escalated|transferred|referred|flagged|assigned|routed)\b"
        rf"{_E}{{0,30}}\b{_SOMEBODY}\b",
    ),
    form(
        HAND_OFF,
        BEGUN,
        rf"\b(?:hand-?off|transfer|escalation)\b{_E}{{0,20}}?{_IS}(?:done|complete|completed|under ?way|made)\b",
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"\b{_SOMEBODY}\b{_E}{{0,20}}?(?:\bwill\b|'ll\b|\bis going to\b) (?:\w{{1,12}} ){{0,2}}?{_WILL_COME}",
        promise=True,
    ),
    # Who announces what they do now has not asked whether they may.
    form(
        HAND_OFF,
        UNDER_WAY,
        r"^\W{0,4}(?:(?:ok(?:ay)?|hold on|sure|one moment|alright|now|just) ?){0,2}"
        rf"(?:connecting|transferring|handing|putting|getting|calling)\b{_E}{{0,30}}\b(?:{_SOMEBODY}|through)\b",
        promise=True,
    ),
    form(
        HAND_OFF,
        BEGUN,
        r"^\W{0,4}(?:(?:ok(?:ay)?|sure|alright|now|just) ?){0,2}"
        rf"(?:passing|escalating|forwarding|asking|notifying|flagging)\b{_E}{{0,30}}\b{_SOMEBODY}\b",
        promise=True,
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"{_SHALL}(?:(?:have|get|bring|call|fetch) (?:you )?(?:someone|somebody|"
        rf"(?:an?|our|my|one of|the)\b{_E}{{0,30}}\b"
        rf"{_SOMEBODY})|(?:transfer|connect|hand|put|loop) (?:you|this|it|your|in)\b{_E}{{0,30}}\b{_SOMEBODY})\b",
        promise=True,
    ),
    form(HAND_OFF, UNDER_WAY, r"^(?:please )?i (?:transfer|connect|put) you\b", promise=True),
    form(HAND_OFF, UNDER_WAY, rf"{_SHALL}(?:transfer|connect|put) you\b(?: over| through|$)", promise=True),
    form(
        HAND_OFF,
        BEGUN,
        rf"{_SHALL}(?:ask(?! you)|let(?! you)|pass|forward|escalate|flag|notify|tell(?! you)|raise|"
        rf"refer|alert|inform(?! you))\b"
        rf"{_E}{{0,40}}\b{_SOMEBODY}\b",
        promise=True,
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        rf"(?:\byou (?:can|may|should|will) )?\bexpect (?:an?|to (?:get|receive|have) an?) {_E}{{0,10}}"
        rf"\b(?:call|e-?mail|message|reply|answer|response)\b{_E}{{0,25}}\b{_SOMEBODY}\b",
        promise=True,
    ),
    form(
        HAND_OFF,
        BEGUN,
        rf"{_I}(?:flagged|marked|queued|raised|escalated|submitted)\b{_E}{{0,20}}\bfor (?:a )?(?:manual )?review\b",
    ),
    form(
        HAND_OFF,
        BEGUN,
        rf"{_I}(?:opened|raised|created|filed|logged)\b{_E}{{0,8}}\b(?:ticket|case|report|request)\b{_E}{{0,20}}\b{_SOMEBODY}\b",
    ),
    form(
        HAND_OFF,
        UNDER_WAY,
        r"\byou(?:'ll| will) (?:hear|be contacted|be helped|"
        r"(?:get|receive) an? (?:reply|answer|call|message|e-?mail)|be called)\b"
        rf"{_E}{{0,15}}\b{_SOMEBODY}\b",
        promise=True,
    ),
)
