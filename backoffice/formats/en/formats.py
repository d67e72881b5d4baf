"""English: the day with 24 hours, because “9:42 a.m.” at the end of a sentence has one full stop too many."""

DATETIME_FORMAT = "N j, Y, H:i"
SHORT_DATETIME_FORMAT = "m/d/Y H:i"
TIME_FORMAT = "H:i"
