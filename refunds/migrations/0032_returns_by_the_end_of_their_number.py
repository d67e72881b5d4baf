"""Returns are found by the end of their number: what people read out of it, or type (`selectors.ending_with`)."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("refunds", "0031_refunds_are_found_fast")]

    operations = [
        migrations.RunSQL(
            "CREATE INDEX return_number_backwards ON refunds_return (reverse(id) text_pattern_ops);",
            "DROP INDEX return_number_backwards;",
        )
    ]
