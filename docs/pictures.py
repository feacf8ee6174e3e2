"""Make the pictures of the README and the pages from the inspector itself.

    python docs/pictures.py MEMORY.db --user ana [--chromium /usr/bin/chromium]

`MEMORY.db` is that of `doxa demo --keep MEMORY.db`; a copy of it is told some tasks and looked at. Needs `playwright`
from PyPI and a Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from doxa.core.config import Config, ServerConfig
from doxa.engine import Doxa
from doxa.transport.http import application

HERE = Path(__file__).parent / "pictures"
SIZE = {"width": 1280, "height": 720}
PAGES = {
    "now": "now?of=leo",
    "timeline": "timeline?of=ana&show=holding",
    "why": "why?fact={fact}",
    "recall": "recall?q=Where+does+Leo+work+now%3F",
    "conflicts": "conflicts",
    "tasks": "tasks",
    "graph": "graph?of=leo",
}
DAY = "2025-01-12"
"""The last one of the conversation of the demo."""
TASKS = (
    "Plan a team dinner on Friday at 7 pm for 8 people.",
    "The taxi is at two hours after the dinner.",
    "Plan a trip to Porto: flight, hotel and train tickets.",
    "If the hotel has a pool, pack swimwear for the trip.",
    "Actually, make the dinner 8 pm.",
)


def main() -> None:
    """Serve a copy, look at it, and write the pictures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("memory", type=Path)
    arguments.add_argument("--user", default="ana")
    arguments.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    options = arguments.parse_args()
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        config = Config.load().model_copy(update={"user": options.user})
        with Doxa.open(shutil.copy(options.memory, folder), config=config) as doxa:
            for text in TASKS:
                doxa.tasks(user=options.user).tell(text, at=DAY)
            server = uvicorn.Server(
                uvicorn.Config(application(doxa, ServerConfig(open=True)), port=0, log_level="error", access_log=False)
            )
            running = threading.Thread(target=server.run)
            running.start()
            while not server.started:
                time.sleep(0.05)
            port = server.servers[0].sockets[0].getsockname()[1]
            try:
                look(f"http://127.0.0.1:{port}/inspect", doxa, options)
            finally:
                server.should_exit = True
                running.join()


def look(home: str, doxa: Doxa, options: argparse.Namespace) -> None:
    """Write a picture of each page."""
    lives = doxa.memory(user=options.user).facts(subject="Ana", relation="lives in")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        for name, address in PAGES.items():
            page.goto(f"{home}/{address.format(fact=lives.fact_id)}", wait_until="load")
            page.wait_for_timeout(1_500)
            page.screenshot(path=HERE / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
