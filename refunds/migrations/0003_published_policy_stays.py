"""A published policy has settled orders: what it says may not change any more, whoever speaks to the database."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION refunds_refundpolicy_keep() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER refunds_refundpolicy_no_change BEFORE UPDATE OR DELETE ON refunds_refundpolicy
    FOR EACH ROW EXECUTE FUNCTION refunds_refundpolicy_keep();
"""

BACKWARDS = """
DROP TRIGGER refunds_refundpolicy_no_change ON refunds_refundpolicy;
DROP FUNCTION refunds_refundpolicy_keep();
"""


class Migration(migrations.Migration):
    dependencies = [("refunds", "0002_policy_version_1")]

    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
