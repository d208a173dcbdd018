"""The venue of a deployment, for whoever judges by it. A start that meets no profile does not pay for reading one."""

from __future__ import annotations

from airlock_shared.documents.deployment import Deployment


def with_venue(deployment: Deployment) -> Deployment:
    """Return a deployment with what its profile says, as it is where there is none.

    Raises ``DocumentError``: ``DOC-VENUE`` for a profile that Airlock does not take, ``DOC-DEPLOYMENT`` for message filters
    of something else.
    """
    if deployment.signed:
        from airlock_shared.catalogue.profile import venue_at

        deployment = deployment._replace(venue=venue_at(deployment))
    if deployment.filters:
        from airlock_shared.catalogue.filtered_structs import require_filters

        require_filters(deployment)
    return deployment
