"""The snippets of the documents and the notebook of the examples work."""

import json
import os
import re
from pathlib import Path

import pytest

import bochner

SOURCE = Path(__file__).parents[2]


@pytest.mark.filterwarnings("ignore::bochner.Note")
def test_the_snippets_of_the_page(folder):
    text = (SOURCE / "docs" / "python.md").read_text()
    names = {}
    for snippet in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if "sklearn" in snippet:
            pytest.importorskip("sklearn", "1.6", reason="scikit-learn 1.6 is missing")
        exec(compile(snippet, "docs/python.md", "exec"), names)
    assert (folder / "load.html").exists() and (folder / "notes_torch").is_dir()


def test_the_snippet_of_the_readme(folder, quiet):
    text = (SOURCE / "README.md").read_text()
    snippet = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    frame = {"month": range(60), "sales": [50 + 9 * (i % 12) + i % 5 for i in range(60)]}
    bochner.train("notes.toml", set={"train.steps": 4}, run="runs/notes")
    exec(compile(snippet.replace("2000", "8"), "README.md", "exec"), {"bochner": bochner, "frame": frame})
    assert bochner.open("runs/notes").metrics[-1]["step"] == 8


def test_the_page_names_what_there_is():
    text = (SOURCE / "docs" / "python.md").read_text()
    for name in re.findall(r"bochner\.(\w+)\(", text):
        assert callable(getattr(bochner, name))
    for name in re.findall(r"^\| `(\w+)\(", text, re.MULTILINE):
        assert callable(getattr(bochner.Run, name))


def test_the_notebook(folder, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is missing")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is missing")
    pytest.importorskip("ipykernel", reason="ipykernel is missing")
    monkeypatch.setenv("PYTHONPATH", str(Path(bochner.__file__).parents[1]))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    notebook = nbformat.read(SOURCE / "examples" / "forecast.ipynb", as_version=4)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "", "language": "python"}
    nbclient.NotebookClient(notebook, timeout=60).execute()
    shown = json.dumps(notebook.cells)
    assert "<iframe srcdoc=" in shown and "mean absolute error" in shown
    assert "load_0.05" in shown and os.path.exists("load.safetensors")


def test_a_run_in_html(quiet):
    run = bochner.train("notes.toml", set={"train.steps": 10}, until=5)
    html = run._repr_html_()
    assert "runs/notes" in html and "(stopped)" in html and "<td>loss</td>" in html
    assert "&lt;svg" in html and "<iframe srcdoc=" in run.page()._repr_html_()
