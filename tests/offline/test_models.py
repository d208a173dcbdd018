"""A model of Ledger is one record: what is added to the table is taken by the settings, and known on USB."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_offline.home import read_config
from airlock_offline.ledger.message_screens import MESSAGE_REVIEW, message_fields
from airlock_offline.ledger.models import MODELS, model_of_product
from airlock_offline.ledger.screens import review_pages
from airlock_shared.errors import UsageError


def test_the_settings_file_takes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[ledger]\nmodel = "apex"\n')
    with pytest.raises(UsageError, match="model is 'apex'"):
        read_config(file)
    monkeypatch.setitem(MODELS, "apex", MODELS["flex"]._replace(name="apex"))
    assert read_config(file).ledger.model == "apex"


def test_a_model_is_known_by_its_product_alone() -> None:
    products = {model.usb_product: name for name, model in MODELS.items() if model.offered}
    assert len(products) == sum(model.offered for model in MODELS.values())
    assert {product: model_of_product(product << 8 | 0x11) for product in products} == products
    assert model_of_product(0xFD11) == ""


@pytest.mark.parametrize("model", ["nanosp", "nanox"])
def test_a_long_message_is_listed_to_its_end(model: str) -> None:
    """The app keeps a personal message whole, and no 379 characters of it (tests/speculos/test_every_kind.py)."""
    message = b"".join(b"word%03d " % number for number in range(100)) + b"the end."
    pages = review_pages(MESSAGE_REVIEW, message_fields(message, model), model)
    shown = "".join(line for page in pages[1:-1] for line in page[1:])
    assert shown.replace(" ", "") == message.decode().replace(" ", "")
