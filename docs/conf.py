"""Configuration of the documentation site, which ``make site`` builds with Sphinx."""

from gpuarray.version import __version__

project = "gpuarray"
author = "the gpuarray-xp authors"
project_copyright = f"2026, {author}"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
exclude_patterns = ["_build", "data"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]

autodoc_typehints = "none"  # the docstrings have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"gpuarray {release}"
html_favicon = html_logo = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "logo": {"text": "gpuarray"},
    "navbar_align": "left",
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}
# pages without others below them have nothing to show at the left
html_sidebars = {
    name: []
    for name in (
        "index",
        "tutorial",
        "how-it-works",
        "placement",
        "accuracy",
        "performance",
        "contributing",
        "changelog",
    )
}
html_context = {"default_mode": "auto"}  # the theme complains if nothing is said
html_show_sourcelink = False
html_copy_source = False
