"""The template as data: what it grants, triggers and keeps, compared with the code that relies on it. No AWS."""
