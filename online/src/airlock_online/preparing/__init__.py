"""From a plan to requests: the deployment, payloads, gas and fees."""
