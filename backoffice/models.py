"""What the project itself keeps: nothing of orders, money or people."""

from django.db import models


class KeptCount(models.Model):
    """What the rows of one table up to one number come to for `/metrics`, so that nobody counts them again.

    `backoffice/tallies.py` writes and reads it. Without it everything is counted anew: it is no record of anything.
    """

    table = models.CharField(primary_key=True, max_length=60)
    counted_to = models.PositiveBigIntegerField()
    sums = models.JSONField()

    def __str__(self) -> str:
        return f"{self.table} {self.counted_to}"
