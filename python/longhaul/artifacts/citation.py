"""``CITATION.cff``: how to cite an artifact, in the Citation File Format 1.2.0."""

from longhaul.artifacts.description import About


def citation(about: About) -> str:
    """The file for an artifact."""
    import yaml

    content = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them as below.",
        "title": about.title,
        "type": "dataset",
        "authors": [{"name": name} for name in about.authors],
        "date-released": about.created[:10],
        **({"license": about.license} if about.license else {}),
        "references": [
            {
                "type": "software",
                "title": "Longhaul",
                "version": about.longhaul,
                "authors": [{"name": "The developers of Longhaul"}],
                "license": ["Apache-2.0", "MIT"],
            }
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
