"""The one DynamoDB table: keys, items, conditional transactions, and the store built from them."""
