"""The page as a file: self-contained, and with a policy that names its one script and one style."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from airlock_shared.qr.render import qr_page, window
from shared.qr.transfers import one_intent

POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
DATA = re.compile(r'<script id="transfer" type="application/json">(.*?)</script>', re.DOTALL)


def source_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def parts(made: str) -> tuple[list[str], str, list[str]]:
    styles = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    (policy,) = POLICY.findall(made)
    return styles, script, policy.split("; ")


def test_the_policy_of_each_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    framed = [data.decode() for data in window("hand-over-00000000000000aa.html").values()]
    for made, frames in zip((qr_page(one_intent()).decode(), *framed), ([], ["frame-src file:"], []), strict=True):
        styles, script, policy = parts(made)
        own = [f"script-src {source_hash(script)}", *(f"style-src {source_hash(style)}" for style in styles)]
        assert policy == ["default-src 'none'", *frames, *own, "base-uri 'none'", "form-action 'none'"]


@pytest.mark.parametrize(
    "text", ["</script>", "<!--", "\u2028\u2029", "a & b", "\x00\x1b[31m", "@SCRIPT@", "@TRANSFER@"]
)
def test_a_name_cannot_leave_its_element(text: str) -> None:
    made = qr_page(one_intent()._replace(kind=text, ceremony=text)).decode()
    (data,) = DATA.findall(made)
    assert not set("<>&\u2028\u2029\x00\x1b") & set(data)
    assert parts(made) == parts(qr_page(one_intent()).decode())
