"""Sweeps over HTTP: what there is, how far it is, its report; only to be read."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gymspace.errors import ConfigError
from gymspace.live.sweeps import Sweep, sweeps
from gymspace.report.assets import asset

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_NO = PlainTextResponse("there is no such page\n", 404, _HEADERS)


class OnlyGet:
    """Answers any other method than GET with 405."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] != "GET":
            refused = PlainTextResponse("only to be read\n", 405, {"Allow": "GET"})
            return await refused(scope, receive, send)
        await self._app(scope, receive, send)


class Site:
    """The pages of the sweeps below ``root``."""

    def __init__(self, root: Path):
        self._root = root
        self._known: dict[Path, Sweep] = {}

    def listed(self, request: Request) -> Response:
        """The list of sweeps."""
        text = _page("sweeps.html", root=str(self._root), states=self._states())
        return HTMLResponse(text, headers=_HEADERS)

    def states(self, request: Request) -> Response:
        """How far each of them is."""
        return JSONResponse([asdict(state) for state in self._states()], headers=_HEADERS)

    def report(self, request: Request) -> Response:
        """The report of one, or why there is none yet."""
        sweep = self._sweep(request)
        if sweep is None:
            return _NO
        try:
            return HTMLResponse(sweep.page(), headers=_HEADERS)
        except ConfigError as error:
            version = sweep.state().version
            text = _page("waiting.html", name=sweep.folder.name, said=str(error), version=version)
            return HTMLResponse(text, headers=_HEADERS)

    def state(self, request: Request) -> Response:
        """How far one of them is."""
        sweep = self._sweep(request)
        if sweep is None:
            return _NO
        return JSONResponse({**asdict(sweep.state()), "wait": sweep.wait}, headers=_HEADERS)

    def file(self, request: Request) -> Response:
        """A file of a trial."""
        sweep = self._sweep(request)
        found = sweep and sweep.file(request.path_params["trial"], request.path_params["file"])
        return _NO if found is None else PlainTextResponse(found, headers=_HEADERS)

    def _states(self) -> list[Any]:
        return [self._of(path).state() for path in sweeps(self._root).values()]

    def _sweep(self, request: Request) -> Sweep | None:
        path = sweeps(self._root).get(request.path_params["sweep"])
        return self._of(path) if path else None

    def _of(self, path: Path) -> Sweep:
        return self._known.setdefault(path, Sweep(path))


def app(root: Path, hosts: list[str] | None = None) -> Starlette:
    """The application; ``hosts`` are the names that it answers to, by default any.

    A page elsewhere that points its own name at this machine gets nothing from it then.
    """
    site = Site(root)
    pages: dict[str, Callable[[Request], Response]] = {
        "/": site.listed,
        "/state.json": site.states,
        "/{sweep}/": site.report,
        "/{sweep}/state.json": site.state,
        "/{sweep}/trials/{trial}/{file}": site.file,
    }
    routes = [Route(path, _threaded(page), methods=["GET"]) for path, page in pages.items()]
    guards = [Middleware(OnlyGet), Middleware(TrustedHostMiddleware, allowed_hosts=hosts or ["*"])]
    return Starlette(routes=routes, middleware=guards)


def _threaded(page: Callable[[Request], Response]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        return await run_in_threadpool(page, request)

    return answer


def _page(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(style=Markup(asset("report.css")), **values)


@cache
def _environment() -> Environment:
    return Environment(loader=PackageLoader("gymspace.live"), autoescape=select_autoescape())
