"""Recipes: stored answers to repeated requests, what became of them, what they saved, and how new ones are learnt."""

from provenloop.entry.http import build_app

lambda_handler = build_app("recipes")
