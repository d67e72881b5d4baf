"""What staff search and narrow by has an index, and an order knows what was paid.

Parts of names, e-mails and numbers are found by pieces of a few characters in an inverted index: no extension is
needed, and two characters of a Chinese name are enough (`orders/search.py`).
"""

from django.db import migrations, models

SEARCH = """
CREATE FUNCTION orders_pieces(words text, shortest int, longest int) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT substr(lower(words), place, size)), '{}')
    FROM generate_series(shortest, longest) AS size, generate_series(1, length(lower(words)) - size + 1) AS place
$$;
CREATE FUNCTION orders_digits_backwards(words text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT reverse(regexp_replace(words, '[^0-9]', '', 'g'))
$$;

CREATE INDEX orders_customer_name_pieces ON orders_customer USING gin (orders_pieces(name, 1, 2));
CREATE INDEX orders_customer_email_pieces ON orders_customer USING gin (orders_pieces(email, 3, 3));
CREATE INDEX orders_customer_phone_end ON orders_customer (orders_digits_backwards(phone) text_pattern_ops);
CREATE INDEX orders_order_number_pieces ON orders_order USING gin (orders_pieces(number, 3, 3));
CREATE INDEX orders_shipment_tracking ON orders_shipment (upper(tracking_number::text)) WHERE tracking_number <> '';
"""

NO_SEARCH = """
DROP INDEX orders_shipment_tracking;
DROP INDEX orders_order_number_pieces;
DROP INDEX orders_customer_phone_end;
DROP INDEX orders_customer_email_pieces;
DROP INDEX orders_customer_name_pieces;
DROP FUNCTION orders_digits_backwards(text);
DROP FUNCTION orders_pieces(text, int, int);
"""

# One statement for all rows of an insert; the rare change of a single payment is followed too.
PAID = """
UPDATE orders_order SET paid_amount = sums.amount
    FROM (SELECT order_id, sum(amount) AS amount FROM orders_payment GROUP BY order_id) AS sums
    WHERE sums.order_id = orders_order.id;

CREATE FUNCTION orders_order_paid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE orders_order SET paid_amount = (
            SELECT coalesce(sum(amount), 0) FROM orders_payment WHERE orders_payment.order_id = orders_order.id)
        WHERE id IN (SELECT order_id FROM touched);
    RETURN NULL;
END;
$$;
CREATE TRIGGER orders_payment_added AFTER INSERT ON orders_payment REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION orders_order_paid();
CREATE TRIGGER orders_payment_removed AFTER DELETE ON orders_payment REFERENCING OLD TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION orders_order_paid();

CREATE FUNCTION orders_payment_keeps_amount() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.amount <> OLD.amount OR NEW.order_id <> OLD.order_id THEN
        UPDATE orders_order SET paid_amount = (
                SELECT coalesce(sum(amount), 0) FROM orders_payment WHERE orders_payment.order_id = orders_order.id)
            WHERE id IN (OLD.order_id, NEW.order_id);
    END IF;
    RETURN NULL;
END;
$$;
CREATE TRIGGER orders_payment_changed AFTER UPDATE OF amount, order_id ON orders_payment
    FOR EACH ROW EXECUTE FUNCTION orders_payment_keeps_amount();
"""

NOT_PAID = """
DROP TRIGGER orders_payment_changed ON orders_payment;
DROP FUNCTION orders_payment_keeps_amount();
DROP TRIGGER orders_payment_removed ON orders_payment;
DROP TRIGGER orders_payment_added ON orders_payment;
DROP FUNCTION orders_order_paid();
"""


class Migration(migrations.Migration):
    dependencies = [("orders", "0005_answers_of_staff_by_their_time")]

    operations = [
        migrations.RunSQL(SEARCH, NO_SEARCH),
        migrations.AddField(
            "order", "paid_amount", models.PositiveBigIntegerField(default=0, editable=False, verbose_name="paid")
        ),
        migrations.RunSQL(PAID, NOT_PAID),
        migrations.AddIndex(
            "order", models.Index(fields=["currency", "-placed_at", "-id"], name="order_currency_newest")
        ),
        migrations.AddIndex("order", models.Index(fields=["paid_amount"], name="order_paid_amount")),
        migrations.AddIndex(
            "lineitem",
            models.Index(
                fields=["order"],
                condition=models.Q(quantity__gt=models.F("cancelled_quantity") + models.F("fulfilled_quantity")),
                name="line_not_sent_yet",
            ),
        ),
        migrations.AddIndex("shipment", models.Index(fields=["state", "order"], name="shipment_state_of_order")),
    ]
