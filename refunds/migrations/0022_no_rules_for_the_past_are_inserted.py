"""Rules of the past are not inserted either: the trigger of 0009 looks at rows that are there already.

A currency's first version may reach back, for nothing has been settled in it yet.
"""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION refunds_refundpolicy_begin() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER refunds_refundpolicy_no_past BEFORE INSERT ON refunds_refundpolicy
    FOR EACH ROW EXECUTE FUNCTION refunds_refundpolicy_begin();
"""

BACKWARDS = """
DROP TRIGGER refunds_refundpolicy_no_past ON refunds_refundpolicy;
DROP FUNCTION refunds_refundpolicy_begin();
"""


class Migration(migrations.Migration):
    dependencies = [("refunds", "0021_a_reference_is_one_of_its_order")]

    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
