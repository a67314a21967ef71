"""A visit to a page in the browser, which notes what the page complains about and asks for. Visits share one window."""

from __future__ import annotations

from typing import Any

DESK, PHONE = {"width": 1200, "height": 900}, {"width": 390, "height": 844}
LOCAL = ("file:", "data:", "blob:")


class Visit:
    """The page while it is open; at the end it must have been quiet and have stayed with itself."""

    def __init__(
        self,
        browser: Any,
        address: str,
        *,
        viewport: dict[str, int] = DESK,
        color_scheme: str = "light",
        permitted: str = "",
        **options: Any,
    ) -> None:
        self.address, self.permitted, self.own = address, permitted, bool(options)
        if self.own or not browser.contexts:
            browser.new_context(**options).new_page()
        self.page = browser.contexts[-1].pages[0]
        self.page.set_default_timeout(60_000)
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.heard = {
            "console": lambda m: self.complaints.append(f"{m.type}: {m.text}"),
            "pageerror": lambda e: self.complaints.append(str(e)),
            "dialog": lambda d: self.complaints.append(f"dialog: {d.message}") or d.dismiss(),
            "request": lambda r: self.asked.append(r.url),
        }
        for event, note in self.heard.items():
            self.page.on(event, note)
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(media="screen", color_scheme=color_scheme)
        self.page.goto(address)

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *error: object) -> None:
        if self.own:
            self.page.context.close()
        else:
            self.page.evaluate("localStorage.clear()")
            self.page.goto("about:blank")
        for event, note in self.heard.items():
            self.page.remove_listener(event, note)
        if error[0] is None:
            assert [text for text in self.complaints if text != self.permitted] == []
            assert [url for url in self.asked if not url.startswith((*LOCAL, self.address, "about:blank"))] == []


def fits(page: Any) -> bool:
    """Whether nothing is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
