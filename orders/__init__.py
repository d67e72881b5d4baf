"""Facts: customers, products, orders, payments, shipments, money and the audit log."""
