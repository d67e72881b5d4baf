"""Stock that nobody has told us is not counted; a balance of store credit is what its entries come to."""

from django.db import migrations

# Until now no shop could tell its stock: every number is the column's default, and none of them was meant.
NOT_COUNTED = "UPDATE orders_product SET stock = NULL"

FORWARDS = """
CREATE FUNCTION orders_storecredit_add() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE orders_storecreditaccount SET balance = balance + NEW.amount WHERE id = NEW.account_id;
    RETURN NEW;
END;
$$;

CREATE TRIGGER orders_storecredit_entry_adds AFTER INSERT ON orders_storecreditentry
    FOR EACH ROW EXECUTE FUNCTION orders_storecredit_add();

CREATE FUNCTION orders_storecredit_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation', HINT = 'Add an entry that corrects the old one.';
END;
$$;

CREATE TRIGGER orders_storecredit_entry_stays BEFORE UPDATE OR DELETE ON orders_storecreditentry
    FOR EACH ROW EXECUTE FUNCTION orders_storecredit_keep();

CREATE TRIGGER orders_storecredit_entries_stay BEFORE TRUNCATE ON orders_storecreditentry
    FOR EACH STATEMENT EXECUTE FUNCTION orders_storecredit_keep();

CREATE FUNCTION orders_storecredit_balance() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    entries bigint;
BEGIN
    SELECT COALESCE(SUM(amount), 0) INTO entries FROM orders_storecreditentry WHERE account_id = NEW.id;
    IF NEW.balance <> entries THEN
        RAISE EXCEPTION 'store credit account %: the balance % is not what its entries come to (%)',
            NEW.id, NEW.balance, entries
            USING ERRCODE = 'integrity_constraint_violation', HINT = 'Add an entry: the balance follows.';
    END IF;
    RETURN NEW;
END;
$$;

CREATE TRIGGER orders_storecredit_balance_follows BEFORE INSERT OR UPDATE ON orders_storecreditaccount
    FOR EACH ROW EXECUTE FUNCTION orders_storecredit_balance();
"""

BACKWARDS = """
DROP TRIGGER orders_storecredit_balance_follows ON orders_storecreditaccount;
DROP FUNCTION orders_storecredit_balance();
DROP TRIGGER orders_storecredit_entries_stay ON orders_storecreditentry;
DROP TRIGGER orders_storecredit_entry_stays ON orders_storecreditentry;
DROP FUNCTION orders_storecredit_keep();
DROP TRIGGER orders_storecredit_entry_adds ON orders_storecreditentry;
DROP FUNCTION orders_storecredit_add();
"""


class Migration(migrations.Migration):
    dependencies = [("orders", "0003_replacements_stock_and_store_credit")]

    operations = [
        migrations.RunSQL(NOT_COUNTED, "UPDATE orders_product SET stock = 0 WHERE stock IS NULL"),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
