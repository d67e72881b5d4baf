"""English: the day with 24 hours, because “9:42 a.m.” at the end of a sentence has one full stop too many.

Months stand in full, as they do where the year is left out.
"""

DATE_FORMAT = "F j, Y"
DATETIME_FORMAT = "F j, Y, H:i"
SHORT_DATETIME_FORMAT = "m/d/Y H:i"
TIME_FORMAT = "H:i"
