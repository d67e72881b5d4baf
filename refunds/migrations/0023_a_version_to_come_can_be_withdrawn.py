"""A published version that is not in force yet can be withdrawn: it never settles anything, and nothing else changes.

The version that it had superseded is then the published one again, as long as there is no other.
"""

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
            SELECT 1 FROM refunds_refundpolicy WHERE currency = NEW.currency AND state IN ('published', 'superseded')
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
    IF NEW.state = OLD.state OR (OLD.state = 'published' AND NEW.state = 'superseded') THEN
        RETURN NEW;
    END IF;
    IF OLD.state = 'published' AND NEW.state = 'withdrawn' AND OLD.in_force_from > now() THEN
        RETURN NEW;
    END IF;
    IF OLD.state = 'superseded' AND NEW.state = 'published' AND NOT EXISTS (
        SELECT 1 FROM refunds_refundpolicy WHERE currency = OLD.currency AND id <> OLD.id AND (
            state = 'published' OR (state = 'superseded' AND in_force_from > OLD.in_force_from)
        )
    ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'refund policy % v% is %: it cannot become %', OLD.currency, OLD.version, OLD.state, NEW.state
        USING ERRCODE = 'integrity_constraint_violation', HINT = 'Publish a new version.';
END;
$$;

CREATE OR REPLACE FUNCTION refunds_refundpolicy_begin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state <> 'draft' AND NEW.in_force_from <= now() AND EXISTS (
        SELECT 1 FROM refunds_refundpolicy WHERE currency = NEW.currency AND state IN ('published', 'superseded')
    ) THEN
        RAISE EXCEPTION 'refund policy % v% would change rules of the past', NEW.currency, NEW.version
            USING ERRCODE = 'integrity_constraint_violation', HINT = 'Insert a draft, and publish it.';
    END IF;
    RETURN NEW;
END;
$$;
"""

BACKWARDS = """
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

CREATE OR REPLACE FUNCTION refunds_refundpolicy_begin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state <> 'draft' AND NEW.in_force_from <= now() AND EXISTS (
        SELECT 1 FROM refunds_refundpolicy WHERE currency = NEW.currency AND state <> 'draft'
    ) THEN
        RAISE EXCEPTION 'refund policy % v% would change rules of the past', NEW.currency, NEW.version
            USING ERRCODE = 'integrity_constraint_violation', HINT = 'Insert a draft, and publish it.';
    END IF;
    RETURN NEW;
END;
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("refunds", "0022_no_rules_for_the_past_are_inserted")]

    operations = [
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.AlterField(
            model_name="refundpolicy",
            name="state",
            field=models.CharField(
                choices=[
                    ("draft", "draft"),
                    ("published", "published"),
                    ("superseded", "superseded"),
                    ("withdrawn", "withdrawn"),
                ],
                default="draft",
                max_length=12,
                verbose_name="state",
            ),
        ),
    ]
