"""A policy is published once, by somebody else than its last editor, for orders yet to come, and only then superseded.

The trigger of 0003 kept what a published version says. This one also keeps the way: draft → published → superseded,
and never over orders that have been placed already (the version in force then settles them).
"""

from django.conf import settings
from django.db import migrations, models

FORWARDS = """
CREATE OR REPLACE FUNCTION refunds_refundpolicy_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state = 'draft' THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        IF NEW.state NOT IN ('draft', 'published') THEN
            RAISE EXCEPTION 'refund policy % v% is a draft: it cannot become %', OLD.currency, OLD.version, NEW.state
                USING ERRCODE = 'integrity_constraint_violation', HINT = 'Publish or delete it.';
        END IF;
        IF NEW.state = 'published' AND NEW.in_force_from <= now() AND EXISTS (
            SELECT 1 FROM refunds_refundpolicy WHERE currency = NEW.currency AND state <> 'draft'
        ) THEN
            RAISE EXCEPTION 'refund policy % v% would change rules of the past', OLD.currency, OLD.version
                USING ERRCODE = 'integrity_constraint_violation', HINT = 'Let it be in force from a later moment.';
        END IF;
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' OR to_jsonb(OLD) - 'state' <> to_jsonb(NEW) - 'state' THEN
        RAISE EXCEPTION 'refund policy % v% is published: its rules may not change', OLD.currency, OLD.version
            USING ERRCODE = 'integrity_constraint_violation', HINT = 'Publish a new version.';
    END IF;
    IF NEW.state <> OLD.state AND NOT (OLD.state = 'published' AND NEW.state = 'superseded') THEN
        RAISE EXCEPTION 'refund policy % v% is %: it cannot become %', OLD.currency, OLD.version, OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation', HINT = 'Publish a new version.';
    END IF;
    RETURN NEW;
END;
$$;
"""

BACKWARDS = """
CREATE OR REPLACE FUNCTION refunds_refundpolicy_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state = 'draft' THEN
        RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP = 'DELETE' OR NEW.state = 'draft' OR to_jsonb(OLD) - 'state' <> to_jsonb(NEW) - 'state' THEN
        RAISE EXCEPTION 'refund policy % v% is published: its rules may not change', OLD.currency, OLD.version
            USING ERRCODE = 'integrity_constraint_violation', HINT = 'Publish a new version.';
    END IF;
    RETURN NEW;
END;
$$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("refunds", "0008_approvals_and_caps"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.AddConstraint(
            model_name="refundpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(("edited_by__isnull", True))
                | models.Q(("published_by__isnull", True))
                | ~models.Q(("published_by", models.F("edited_by"))),
                name="nobody_publishes_their_own_draft",
            ),
        ),
        migrations.AddConstraint(
            model_name="refundpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(("lost_after_days__gt", 0), ("return_window_days__gt", 0)),
                name="policy_days_positive",
            ),
        ),
    ]
