"""The options of commands that can also work by light; apart, because most runs of them load nothing else of it."""

from __future__ import annotations

import click

qr_option = click.option("--qr", is_flag=True, help="By QR codes: from a camera or pictures, and on the screen.")
restart_option = click.option("--restart", is_flag=True, help="Forget what an interrupted scan has read.")
