"""People of an OIDC issuer: its signing keys, and JWTs that are verified by them."""
