"""What everything in a SQLite file stands on: effects, transactions, migrations, and who performs them."""
