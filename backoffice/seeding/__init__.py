"""A believable shop of any size, by bulk: what `manage.py seed_shop` fills a database with."""
