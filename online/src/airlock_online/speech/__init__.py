"""How the services of a venue speak: where a reply has what, and what its words mean, out of closed lists."""
