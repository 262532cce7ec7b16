"""The console: pages for a browser, made of the answers of the API's own routes."""
