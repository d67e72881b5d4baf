"""How English says that something has been done. See `agent/claim_forms.py`."""

from typing import Final

from agent.claim_english_parts import ADVERBS, IT_IS, SIGN, WE_HAVE
from agent.claim_forms import form
from agent.deeds import ADDRESS, CANCEL, COMPENSATION, EXCHANGE, REFUND, RESEND, RETURN, Reach

BEGUN, UNDER_WAY, DONE = Reach.BEGUN, Reach.UNDER_WAY, Reach.DONE
_E, _I, _IS = SIGN, WE_HAVE, IT_IS
_ADV = ADVERBS
_SUM = r"(?:(?:nt|us)?\$ ?\d[\d,.]{0,15}|(?<![\d.,])\d[\d,.]{0,15} ?(?:ntd|twd|dollars))"
_FUNDS = rf"(?:{_SUM}|money|funds?|amount|cash|balance|full price)"
_CASH = rf"(?:{_FUNDS}|payment|charge)"
_STARTED = (
    r"(?:initiated|submitted|requested|started|filed|raised|begun|arranged|set up|opened|placed|queued|lodged|logged|"
    r"registered|created|accepted|entered|recorded|put in|scheduled|received)"
)
_SENT = (
    r"(?:issued|processed|made|sent|executed|put through|approved|granted|pushed through|triggered|authori[sz]ed|"
    r"released|handled)"
)
_MADE = (
    r"(?:registered|created|opened|approved|set up|arranged|started|accepted|confirmed|processed|submitted|booked|"
    r"logged|filed|requested|initiated|issued|scheduled|placed|raised|authori[sz]ed|made|put in|put through|completed?|"
    r"done|sorted|in progress|under ?way|on file|open|all set|in place|organi[sz]ed|recorded|entered|finali[sz]ed|"
    r"in our system)"
)
_THROUGH = r"\b(?:went|came|gone|has gone|has come|is) through\b"
_SHIPPED = (
    r"(?:sent|shipped|dispatched|mailed|posted|handed to the carrier|on (?:its|the|their) way|en route|in transit|"
    r"out for delivery)"
)
_EDITED = (
    r"(?:updated|changed|corrected|modified|replaced|edited|amended|switched|fixed|saved|set|moved|adjusted|entered|"
    r"recorded|put)"
)
_WHERE = (
    r"(?:address|delivery details|shipping details|delivery information|recipient|phone number|pick-?up store|"
    r"destination)"
)
_GOODWILL = (
    r"(?:compensation|goodwill|voucher|coupon|store credit|discount code|gift card|bonus points|points|credit(?! card))"
)
_NO_REQUEST = r"(?! (?:request|quote|button|card|options?|label|window|policy|period))"
_RETURNED = r"(?:credited|returned|sent back|put back|given back|back\b|reversed|voided)"
# A payment does this too, on its way to the shop.
_ARRIVED = (
    r"(?:transferred|in your account|on your card|paid (?:back|out|(?:in)?to you)|arrived|landed|deposited|posted|"
    r"reached)"
)
_ONE_MORE = r"(?:another|second|new|fresh|replacement) (?:parcel|package|shipment|box|copy|one)"
_NEW_ONE = r"(?:replacement|new (?:one|pair|item|unit|earphones|headphones|case))"
_PICK_UP = r"(?:pick[- ]?up|collection|courier|collect)"

ENGLISH: Final = (
    # Money. “Submitted” says less than “on its way”, and that less than “paid”.
    form(REFUND, BEGUN, rf"{_I}{_STARTED}\b{_E}{{0,40}}\brefund\b{_NO_REQUEST}"),
    form(REFUND, BEGUN, rf"\brefund\b{_E}{{0,40}}?{_IS}(?:being )?{_STARTED}\b"),
    form(
        REFUND,
        BEGUN,
        rf"\brefund\b{_E}{{0,30}}?{_IS}(?:being (?:processed|sent|issued|handled)|in pro(?:gress|cess)|under ?way)",
    ),
    form(
        REFUND,
        BEGUN,
        rf"{_I}(?:pressed|clicked|tapped|confirmed)\b{_E}{{0,30}}\b(?:for you|on your behalf|button|myself)\b",
    ),
    form(REFUND, BEGUN, rf"{_I}approved (?:this|it|your refund)\b"),
    form(REFUND, UNDER_WAY, rf"{_I}{_SENT}\b{_E}{{0,40}}\brefund\b{_NO_REQUEST}"),
    form(REFUND, UNDER_WAY, rf"\brefund\b{_E}{{0,40}}?{_IS}(?:{_SENT}|on (?:its|the) way|in transit|with your bank)\b"),
    form(
        REFUND,
        UNDER_WAY,
        rf"\b{_CASH}\b{_E}{{0,40}}?(?:\b(?:is|are)|'s){_ADV} "
        r"(?:on (?:its|the) way\b(?! from)|head(?:ing|ed)|(?:going|coming) (?:back|out)|"
        r"being (?:sent|returned|refunded|transferred))",
    ),
    form(REFUND, UNDER_WAY, rf"{_SUM}{_E}{{0,20}}\bon (?:its|the) way (?:back )?to\b"),
    form(REFUND, DONE, rf"{_I}(?:refunded|reimbursed|repaid|paid (?:you )?back|credited|reversed the charge)\b"),
    form(REFUND, DONE, rf"{_IS}(?:marked as )?(?:refunded|reimbursed|repaid|paid back)\b"),
    form(REFUND, DONE, rf"\b{_CASH}\b{_E}{{0,30}}?{_IS}{_RETURNED}"),
    form(
        REFUND, DONE, rf"(?<!payment of )(?<!charge of )(?<!order of )(?<![\w$]){_FUNDS}\b{_E}{{0,30}}?{_IS}{_ARRIVED}"
    ),
    form(REFUND, DONE, rf"{_SUM} (?:refunded|reimbursed|paid back)\b"),
    form(REFUND, DONE, rf"\brefund\b{_E}{{0,30}}\b(?:hit|reached|landed|arrived (?:on|in))\b"),
    form(REFUND, DONE, rf"\b(?:card|account)\b{_E}{{0,20}}?{_IS}credited\b"),
    form(
        REFUND,
        DONE,
        rf"{_I}(?:sent|returned|transferred|wired|put|moved|given|paid|gave|credited)\b{_E}{{0,30}}\b{_CASH}\b{_E}{{0,30}}"
        r"\b(?:back|to your|onto your|on your)\b",
    ),
    form(
        REFUND,
        DONE,
        rf"\b(?:and|have|has) (?:returned|paid back|sent back|given back) (?:you |all |your |the ){{0,4}}{_CASH}\b",
    ),
    form(REFUND, DONE, rf"{_I}(?:completed|finali[sz]ed|finished|done|given you)\b{_E}{{0,30}}\brefund\b"),
    form(
        REFUND,
        DONE,
        rf"\brefund\b{_E}{{0,40}}?{_IS}"
        r"(?:completed?|done|paid(?: out)?|finali[sz]ed|credited|successful|through|in your account|on your card|"
        r"settled|finished|back on)\b",
    ),
    form(REFUND, DONE, rf"\brefund\b(?: request)?{_E}{{0,30}}{_THROUGH}"),
    form(
        REFUND,
        DONE,
        rf"^\W{{0,6}}(?:your |the |full |a |{_SUM} ){{0,4}}refund\b{_E}{{0,30}}"
        r" (?:complete|completed|issued|processed|sent|confirmed|done|successful)\b",
    ),
    form(
        REFUND,
        DONE,
        rf"^\W{{0,6}}(?:(?:done|all set|good news|ok(?:ay)?)\W{{0,4}})?"
        rf"(?:i |successfully |and |{_SUM} ){{0,4}}refunded\b",
    ),
    form(
        REFUND,
        DONE,
        rf"\b(?:you|you've|you have){_ADV} (?:got(?:ten)?|received|have)\b{_E}{{0,12}}(?:money back|refund\b(?! req))",
    ),
    form(
        REFUND,
        DONE,
        rf"{_I}(?:sorted(?: out)?|took care of|taken care of|dealt with|handled|hit|pushed|pressed)\b"
        rf"{_E}{{0,20}}\brefund\b",
    ),
    form(REFUND, BEGUN, rf"{_I}(?:hit|pushed|pressed|clicked|tapped)\b{_E}{{0,20}}\bbutton\b"),
    form(REFUND, DONE, rf"\brefund\b{_E}{{0,12}}?(?:{_IS})?\b(?:cleared|went out|gone out)\b"),
    form(REFUND, DONE, r"\bconsider (?:it|that|this|them|your [a-z]{1,12}) (?:already )?(?:refunded|paid back)\b"),
    form(
        REFUND,
        UNDER_WAY,
        rf"(?:{_SUM}|\brefund\b|\bmoney\b){_E}{{0,20}}?{_IS}(?:released to your\b|left (?:us|our|here)\b)",
    ),
    form(REFUND, DONE, rf"\byour (?:bank|card|account)(?: now)? has (?:the |your )?(?:{_SUM}|refund|money)\b"),
    form(REFUND, DONE, rf"\byou(?: now| already)? have (?:the |your |all )?(?:{_SUM}|money)\b{_E}{{0,8}}\bback\b"),
    form(
        REFUND,
        DONE,
        rf"{_I}(?:had|got) {_E}{{0,12}}(?:{_SUM}|money)\b{_E}{{0,10}}\b(?:returned|refunded|sent back|paid back)\b",
    ),
    form(REFUND, DONE, rf"{_I}(?:voided|reversed|cancell?ed) (?:the |your )?(?:payment|charge|transaction)\b"),
    # Goods that will not be sent.
    form(
        CANCEL,
        DONE,
        rf"(?:{_I}|{_IS})(?:marked as )?cancell?ed\b(?! (?:the|your|this) (?:request|refund|exchange|return|card))",
    ),
    form(
        CANCEL,
        DONE,
        rf"\bcancellation\b{_E}{{0,20}}?(?:{_IS}(?:complete|completed|done|confirmed|processed)\b|{_THROUGH})",
    ),
    form(
        CANCEL,
        DONE,
        rf"\b(?:is|are|came|come|has come|have come)\b{_E}{{0,10}}\b(?:off|out of) (?:your|the|this) order\b",
    ),
    form(CANCEL, DONE, rf"(?:{_I}|{_IS})(?:taken|took|removed)\b{_E}{{0,20}}\b(?:off|from) (?:your|the) order\b"),
    # Goods that come back.
    form(
        RETURN,
        UNDER_WAY,
        r"\b(?:we|i|the warehouse|our warehouse)(?:'ve|'s| have| has)?"
        rf"{_ADV} (?:received|got)\b{_E}{{0,25}}\b(?:return|returned|sent back)\b(?! request)",
    ),
    form(RETURN, BEGUN, rf"{_I}{_MADE}\b{_E}{{0,40}}\breturn\b(?! (?:window|policy|period|button|request form))"),
    form(RETURN, BEGUN, rf"\breturn\b{_E}{{0,40}}?{_IS}(?:being )?{_MADE}\b"),
    form(RETURN, BEGUN, rf"^\W{{0,6}}(?:your |the )?return(?: request)? {_MADE}\b"),
    form(RETURN, BEGUN, rf"\breturn\b(?: request)?{_E}{{0,20}}{_THROUGH}"),
    form(RETURN, BEGUN, rf"{_I}(?:sent|emailed|mailed|generated|created|issued)\b{_E}{{0,20}}\breturn label\b"),
    form(
        RETURN,
        BEGUN,
        rf"\breturn label\b{_E}{{0,20}}?{_IS}(?:sent|emailed|mailed|created|ready|generated|issued|in your)\b",
    ),
    form(RETURN, BEGUN, r"\breturn label (?:sent|e-?mailed|mailed|created|issued|on its way)\b"),
    form(
        RETURN, BEGUN, rf"\blabel\b{_E}{{0,16}}?\breturn\b{_E}{{0,8}}?{_IS}(?:sent|e-?mailed|mailed|issued|created)\b"
    ),
    form(RETURN, BEGUN, r"\bmarked as returned\b"),
    form(RETURN, BEGUN, rf"{_I}{_MADE}\b{_E}{{0,30}}\b{_PICK_UP}\b"),
    form(RETURN, BEGUN, rf"\b{_PICK_UP}\b{_E}{{0,30}}?{_IS}{_MADE}\b"),
    # Goods for goods.
    form(EXCHANGE, DONE, rf"\b{_NEW_ONE}\b{_E}{{0,30}}?{_IS}(?:being )?{_SHIPPED}"),
    form(
        EXCHANGE,
        DONE,
        rf"\b{_NEW_ONE}\b{_E}{{0,12}}?\b(?:left|went out)\b(?= (?:the|our|us|here|to|today|yesterday|this))",
    ),
    form(EXCHANGE, DONE, rf"{_I}{_SHIPPED}\b{_E}{{0,25}}\b{_NEW_ONE}\b"),
    form(EXCHANGE, BEGUN, rf"(?:{_I}|{_IS})(?:marked as )?(?:exchanged|swapped|replaced)\b"),
    form(EXCHANGE, BEGUN, rf"{_I}{_MADE}\b{_E}{{0,40}}\b(?:exchange|swap|replacement)\b"),
    form(
        EXCHANGE,
        BEGUN,
        rf"\b(?:exchange|swap|replacement)\b{_E}{{0,40}}?{_IS}(?:being )?(?:{_MADE}|ordered|reserved)\b",
    ),
    form(
        EXCHANGE,
        BEGUN,
        rf"\b{_NEW_ONE}\b{_E}{{0,30}}?{_IS}(?:being )?(?:packed|prepared|reserved|on order|confirmed)\b",
    ),
    form(EXCHANGE, BEGUN, rf"^\W{{0,6}}(?:your |the )?(?:exchange|swap|replacement)(?: request)? {_MADE}\b"),
    form(EXCHANGE, BEGUN, rf"\b(?:exchange|swap)\b(?: request)?{_E}{{0,20}}{_THROUGH}"),
    form(EXCHANGE, BEGUN, rf"(?:{_I}|{_IS})(?:reserved|put|set)\b{_E}{{0,25}}(?:\b{_NEW_ONE}\b{_E}{{0,10}})?\baside\b"),
    # The same once more.
    form(
        RESEND,
        BEGUN,
        rf"{_I}(?:arranged|scheduled|set up|ordered|organi[sz]ed|requested|asked)\b{_E}{{0,40}}"
        r"\b(?:resent|re-sent|reshipped|re-shipped|sent (?:out )?again|shipped again|reshipment|redelivery|"
        r"resend|send (?:you )?(?:another|a new|a second))\b",
    ),
    form(
        RESEND, DONE, rf"(?:{_I}|{_IS})(?:being )?(?:resent|re-sent|reshipped|re-shipped|redelivered|re-dispatched)\b"
    ),
    form(
        RESEND,
        BEGUN,
        rf"(?:{_I}|{_IS})(?:being )?(?:(?:had|got)\b{_E}{{0,25}}\b)?(?:sent|shipped|dispatched|mailed)\b{_E}{{0,30}}"
        r"\b(?:again|once more|a second time|another)\b",
    ),
    form(RESEND, DONE, rf"\b{_ONE_MORE}\b{_E}{{0,30}}?(?:{_IS}(?:being )?{_SHIPPED}|\b(?:left|went out)\b)"),
    form(
        RESEND,
        BEGUN,
        rf"\b{_ONE_MORE}\b{_E}{{0,20}}?{_IS}(?:being )?(?:packed|prepared)\b|\bon its way (?:to you )?again\b",
    ),
    form(RESEND, DONE, rf"{_I}{_SHIPPED}\b{_E}{{0,20}}\b{_ONE_MORE}\b"),
    form(RESEND, BEGUN, rf"\b(?:reshipment|re-shipment|resend|redelivery)\b{_E}{{0,30}}?{_IS}(?:being )?{_MADE}\b"),
    # Where it goes.
    form(ADDRESS, DONE, rf"{_I}{_EDITED}\b{_E}{{0,40}}\b{_WHERE}\b"),
    form(ADDRESS, DONE, rf"\b{_WHERE}\b{_E}{{0,40}}?{_IS}(?:being )?{_EDITED}\b"),
    form(ADDRESS, DONE, rf"\b{_WHERE}\b (?:updated|changed|corrected|saved)\b"),
    form(ADDRESS, DONE, rf"\b{_WHERE}\b{_E}{{0,20}}?{_IS}(?:in (?:the|our) system|in place|on file now)\b"),
    form(ADDRESS, DONE, rf"(?:{_I}|{_IS})(?:being )?(?:redirected|rerouted|re-routed|diverted)\b"),
    form(
        ADDRESS, DONE, rf"{_I}(?:updated|changed)\b{_E}{{0,10}}\bwhere\b|\border\b{_E}{{0,10}}\bnow (?:goes|ships) to\b"
    ),
    form(ADDRESS, DONE, rf"\bnow (?:goes|ships|going|being sent|sent|set|headed)\b{_E}{{0,20}}\bnew {_WHERE}\b"),
    # Something for the trouble.
    form(
        COMPENSATION,
        BEGUN,
        rf"(?:\band (?=proposed)|{_I})(?:proposed|submitted|requested|passed|forwarded|put in|put forward|filed|"
        rf"asked|suggested|recommended|applied|raised)\b{_E}{{0,50}}\b{_GOODWILL}\b",
    ),
    form(
        COMPENSATION,
        BEGUN,
        rf"\b{_GOODWILL}\b{_E}{{0,40}}?{_IS}(?:being )?"
        r"(?:submitted|passed on|proposed|requested|forwarded|put forward)\b",
    ),
    form(
        COMPENSATION,
        UNDER_WAY,
        rf"{_I}(?:approved|granted|issued|added|given|gave|applied|sent|credited|arranged|awarded|paid|put)\b{_E}{{0,50}}"
        rf"\b{_GOODWILL}\b",
    ),
    form(
        COMPENSATION,
        UNDER_WAY,
        rf"\b{_GOODWILL}\b{_E}{{0,40}}?{_IS}(?:being )?"
        r"(?:approved|granted|issued|added|credited|applied|paid|sent|awarded|agreed|on (?:its|the) way)\b",
    ),
    form(
        COMPENSATION, UNDER_WAY, rf"\bgoodwill\b{_E}{{0,12}}{_I}(?:added|put|credited|given|sent)\b{_E}{{0,20}}{_SUM}"
    ),
    form(COMPENSATION, UNDER_WAY, rf"\bhere(?:'s| is) (?:a|your)\b{_E}{{0,16}}\b{_GOODWILL}\b"),
    form(COMPENSATION, UNDER_WAY, rf"(?:{_I}|{_IS})compensated\b"),
    form(COMPENSATION, UNDER_WAY, rf"(?:{_I}|{_IS})(?:granted|awarded) (?:you )?{_SUM}"),
    form(COMPENSATION, UNDER_WAY, rf"{_IS}(?:agreed to|approved|granted)\b{_E}{{0,30}}\b{_GOODWILL}\b"),
    form(COMPENSATION, UNDER_WAY, rf"{_SUM}{_E}{{0,20}}?{_IS}(?:granted|awarded)\b"),
)
