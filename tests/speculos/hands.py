"""Which hands a model needs: two buttons, or a finger and the places where it presses."""

from __future__ import annotations

from speculos.buttons import Buttons
from speculos.device import Hands, RealApp
from speculos.touching import PLACES, Touching


def hands_of(app: RealApp) -> Hands:
    """Return what a person does on this app's Ledger."""
    places = PLACES.get(app.file.model)
    return Buttons(app) if places is None else Touching(app, places)
