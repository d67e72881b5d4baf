"""The audit log is append-only for everybody who speaks to this database, the application included."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION orders_auditevent_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'orders_auditevent is append-only: % is refused', TG_OP
        USING ERRCODE = 'integrity_constraint_violation', HINT = 'Add an event that corrects the old one.';
END;
$$;

CREATE TRIGGER orders_auditevent_no_change BEFORE UPDATE OR DELETE ON orders_auditevent
    FOR EACH ROW EXECUTE FUNCTION orders_auditevent_refuse();

CREATE TRIGGER orders_auditevent_no_truncate BEFORE TRUNCATE ON orders_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION orders_auditevent_refuse();
"""

BACKWARDS = """
DROP TRIGGER orders_auditevent_no_truncate ON orders_auditevent;
DROP TRIGGER orders_auditevent_no_change ON orders_auditevent;
DROP FUNCTION orders_auditevent_refuse();
"""


class Migration(migrations.Migration):
    dependencies = [("orders", "0001_initial")]

    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
