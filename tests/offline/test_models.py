"""A model of Ledger is one record: what is added to the table is taken by its pages and by the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_offline.home import read_config
from airlock_offline.ledger.message_screens import MESSAGE_REVIEW, message_fields
from airlock_offline.ledger.models import MODELS, Model, Touch, model_of_product
from airlock_offline.ledger.typed_data_screens import not_shown_in_full, review_pages, typed_data_pages
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.typed_document import read_typed_data

NAME = "apex"
FLEX = MODELS["flex"].screen
assert FLEX is not None
assert isinstance(FLEX.layout, Touch)
NARROW = FLEX._replace(
    layout=FLEX.layout._replace(lines=4, height_px=150, height_with_skip_px=150),
    wording=FLEX.wording._replace(warning=("Danger",), transaction_hash="Hash", delegated_network="Where"),
    app_version="1.23.4",
)
APEX = Model(NAME, "Apex P", 0xFE, "look twice", NARROW)
TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
TYPED_DATA, HASHES = read_typed_data({
    "types": {"EIP712Domain": [{"name": "name", "type": "string"}], "Note": [{"name": "text", "type": "string"}]},
    "primaryType": "Note",
    "domain": {"name": "A note"},
    "message": {"text": TEXT},
})  # fmt: skip


def test_its_pages_follow_from_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, NAME, APEX)
    pages = typed_data_pages(TYPED_DATA, HASHES, NAME, by_hashes=False)
    assert pages[0] == ["Danger"]
    assert next(page for page in pages if "text" in page)[-4:-2] == [pages[-2][-4], "More"]
    assert pages != typed_data_pages(TYPED_DATA, HASHES, "flex", by_hashes=False)
    [note] = not_shown_in_full(TYPED_DATA, NAME)
    assert "behind More" in note
    assert not_shown_in_full(TYPED_DATA, "flex") == []


def test_the_settings_file_takes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[ledger]\nmodel = "{NAME}"\n')
    with pytest.raises(UsageError, match="model is 'apex'"):
        read_config(file)
    monkeypatch.setitem(MODELS, NAME, APEX)
    assert read_config(file).ledger.model == NAME


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
