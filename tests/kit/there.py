"""Run inside a network of its own, by the system's Python alone: start the software Ledger, then sign with it.

``there.py LEDGER PROGRAM HOME TYPED WORDS...``: the words of ``sign`` without its port. Leaves with its exit code.
"""

import json
import subprocess
import sys

software_ledger, program, home, typed, *words = sys.argv[1:]
with subprocess.Popen([software_ledger], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as ledger:
    assert ledger.stdout is not None
    port = str(json.loads(ledger.stdout.readline())["port"])
    ended = subprocess.run(
        [program, "--home", home, "sign", *words, "--emulator", port], input=typed, text=True, check=False
    )
    ledger.terminate()
sys.exit(ended.returncode)
