"""The page's HTML and files, without a browser."""
from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from models.config import load_config
from models.pool import Pool
from server.calls import Calls
from server.limits import Limits
from tests.served import ROOT
from ui import page
from ui.assets import Assets
from ui.document import HERE, placed


@pytest.fixture(scope="module")
def client():
    app = FastAPI()
    page.mount(app, Calls(Pool(load_config(ROOT / "config.toml")), Limits(lambda: None)))
    with TestClient(app) as opened:
        yield opened


def test_the_document_leaves_its_address_to_the_browser(client):
    html = client.get("/").text
    settings, examples = html.split("window.gradio_api_info")  # examples: how to call the endpoints from programs
    rest = examples[examples.index("</script>"):]
    assert HERE in settings and "http://testserver" not in settings + rest
    assert html.index("modulepreload") < html.index("<base")


def test_pages_that_name_no_root_stay_as_they_are():
    assert placed("<html><head></head>", "<x>") == "<html><head>\n<x></head>"


def test_files_are_named_by_content_and_kept(client):
    assets = Assets()
    answer = client.get("/" + assets.url("player/worklet.js"))
    assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("name", ["page.py", "../config.toml", "player/../page.py", "%2e%2e/app.py", "nothing.js", ""])
def test_nothing_else_is_served(client, name):
    assert client.get(f"/{Assets().base}/{name}").status_code == 404


def test_changed_files_change_every_address(tmp_path):
    (tmp_path / "one.js").write_text("1")
    before = Assets(tmp_path)
    (tmp_path / "one.js").write_text("2")
    assert Assets(tmp_path).url("one.js") != before.url("one.js")
    with pytest.raises(KeyError):
        before.url("two.js")


def test_no_markup_or_script_names_another_host():
    for name, content in Assets().files.items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        addresses = [line for line in text.splitlines() if "://" in line and not line.strip().startswith("//")]
        assert not addresses, name


def test_gradio_offers_no_files_of_the_machine(client):
    for path in ("/etc/hostname", "/proc/self/environ"):
        assert client.get(f"/gradio_api/file={path}").status_code in (403, 404)
