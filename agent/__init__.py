"""The embedded agent: it hears, thinks, calls tools and tells. It never pays."""
