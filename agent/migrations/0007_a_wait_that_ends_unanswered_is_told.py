"""Customers are told by e-mail that no person will answer, too."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent', '0006_why_and_since_when_a_person_is_needed'),
    ]

    operations = [
        migrations.AlterField(
            model_name='customermail',
            name='kind',
            field=models.CharField(choices=[('answered', 'a person answered'), ('expiring', 'a card is about to expire'), ('outcome', 'the outcome of money is known'), ('wait_over', 'no person will answer')], max_length=10, verbose_name='kind of e-mail'),
        ),
    ]
