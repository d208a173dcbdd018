"""The venue of a deployment, for whoever judges by it. A start that meets no profile does not pay for reading one."""

from __future__ import annotations

from airlock_shared.documents.deployment import Deployment


def with_venue(deployment: Deployment) -> Deployment:
    """Return a deployment with what its profile says, as it is where there is none.

    Raises ``DocumentError("DOC-VENUE")`` for a profile that Airlock does not take.
    """
    if not deployment.signed:
        return deployment
    from airlock_shared.catalogue.profile import venue_at

    return deployment._replace(venue=venue_at(deployment))
