"""Pages that follow from the code or from files of the repository, made while the site is built."""

from pathlib import Path

from config_page import config_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from names_page import names_page
from notebook_pages import notebook_pages

ROOT = Path(__file__).parents[2]
COPIES = {
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the made pages to those that were found."""
    made: dict[str, str | bytes] = {
        page: (ROOT / source).read_text().replace("](docs/", "](")
        for page, source in COPIES.items()
    }
    made["reference/config.md"] = config_page((ROOT / "conf" / "config.yaml").read_text())
    made["reference/names.md"] = names_page()
    made |= notebook_pages(ROOT)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files
