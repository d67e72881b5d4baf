"""Chinese: 9月5日, where Django writes 09月5日."""

MONTH_DAY_FORMAT = "n月j日"
