"""The same sessions on several machines: Ray Serve replicas that hold a pool each, and the page and API in front of them."""
