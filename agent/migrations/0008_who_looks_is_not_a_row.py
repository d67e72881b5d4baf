"""Who looks at a page is known to Redis alone, and what a mail server said of an address is kept no longer."""

from django.db import migrations

KIND_ALONE = "UPDATE agent_customermail SET error = split_part(error, ':', 1) WHERE error LIKE '%:%'"


class Migration(migrations.Migration):

    dependencies = [
        ('agent', '0007_a_wait_that_ends_unanswered_is_told'),
    ]

    operations = [
        migrations.RunSQL(KIND_ALONE, migrations.RunSQL.noop),
        migrations.RemoveField(model_name='conversation', name='seen_at'),
    ]
