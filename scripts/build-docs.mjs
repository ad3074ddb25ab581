// Builds the documentation as a site of static pages into the platform's dist: the server sends them below /docs.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";

/** Pages beside those of docs/. */
const otherPages = ["CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "GLOSSARY.md"];
/** Files that pages link to, and that readers of the site can open: everything else is for those who have the repository. */
const shownFiles = /^(?:deploy|examples|packages\/protocol\/generated)\//;

export function buildDocs(root) {
  const directory = join(root, "packages/platform/dist/docs");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const pages = [
    ...readdirSync(join(root, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
    ...otherPages,
  ];
  const site = { root, names: new Map(pages.map((path) => [path, nameOf(path)])), files: new Set() };
  const contents = contentsOf(site);
  const built = pages.map((path) => buildPage(site, path));
  const problems = findBrokenLinks(site, built);
  if (problems.length > 0) throw new Error(`The documentation has broken links:\n${problems.join("\n")}`);
  for (const page of built) writeFileSync(join(directory, `${page.name}.html`), documentOf(page, contents));
  for (const path of site.files) {
    mkdirSync(join(directory, "files", dirname(path)), { recursive: true });
    copyFileSync(join(root, path), join(directory, "files", path));
  }
  cpSync(join(root, "docs/screenshots"), join(directory, "screenshots"), { recursive: true });
  copyFileSync(join(root, "scripts/docs.css"), join(directory, "style.css"));
}

const nameOf = (path) => (path === "docs/README.md" ? "index" : posix.basename(path, ".md").toLowerCase());

function buildPage(site, path) {
  const links = [];
  const text = readFileSync(join(site.root, path), "utf8").replace(/^(?:<!--.*?-->\s*)+/s, "");
  const html = micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
  const ids = new Set();
  const body = html
    .replace(/<h([1-6])>(.*?)<\/h\1>/gs, (_, level, title) => heading(level, title, ids))
    .replace(/<a href="([^"]*)">(.*?)<\/a>/gs, (_, href, label) => link({ site, path, links }, href, label))
    .replace(/<img src="(screenshots\/[^"]*)"/g, '<img loading="lazy" src="/docs/$1"')
    .replace(/<table>/g, '<div class="scroll"><table>')
    .replace(/<\/table>/g, "</table></div>");
  return { path, name: site.names.get(path), title: titleOf(html), body, ids, links };
}

const plain = (html) => html.replace(/<[^>]*>/g, "");
const titleOf = (html) => plain(/<h1>(.*?)<\/h1>/s.exec(html)?.[1] ?? "Documentation");

/** The same ids as source hosts give to headings, so that links work in both. */
function heading(level, title, ids) {
  const base = plain(title)
    .replace(/&[a-z]+;/g, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
  let id = base;
  for (let count = 1; ids.has(id); count += 1) id = `${base}-${count}`;
  ids.add(id);
  return `<h${level} id="${id}"><a class="anchor" href="#${id}">${title}</a></h${level}>`;
}

function link({ site, path, links }, href, label) {
  if (/^[a-z]+:/.test(href)) return `<a href="${href}" rel="noreferrer">${label}</a>`;
  const [file, fragment] = href.split("#");
  const target = file === "" ? path : posix.join(posix.dirname(path), file);
  const name = site.names.get(target);
  links.push({ href, target, fragment });
  const anchor = fragment === undefined ? "" : `#${fragment}`;
  if (name !== undefined) return `<a href="${addressOf(name)}${anchor}">${label}</a>`;
  if (!shownFiles.test(target) || !existsSync(join(site.root, target)) || !statSync(join(site.root, target)).isFile())
    return label;
  site.files.add(target);
  return `<a href="/docs/files/${target}">${label}</a>`;
}

const addressOf = (name) => (name === "index" ? "/docs" : `/docs/${name}`);

function findBrokenLinks(site, pages) {
  const idsOf = new Map(pages.map(({ path, ids }) => [path, ids]));
  return pages.flatMap(({ path, links }) =>
    links.flatMap(({ href, target, fragment }) => {
      if (!existsSync(join(site.root, target))) return [`${path}: ${href}: there is no such file.`];
      const ids = idsOf.get(target);
      return fragment === undefined || ids === undefined || ids.has(fragment)
        ? []
        : [`${path}: ${href}: there is no such heading.`];
    }),
  );
}

/** The groups of docs/README.md, each with its pages. */
function contentsOf(site) {
  const text = readFileSync(join(site.root, "docs/README.md"), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((group) => {
      const [title = ""] = group.split("\n");
      const rows = group.split("\n").filter((line) => line.startsWith("| ["));
      const entries = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/\[([^\]]+)\]\(([^)#]+)[^)]*\)/g)]);
      return { title, entries: entries.map(([, label, file]) => ({ label, name: nameOf(posix.join("docs", file)) })) };
    });
}

function documentOf({ name, title, body }, contents) {
  const entry = (each) =>
    `<li><a href="${addressOf(each.name)}"${each.name === name ? ' aria-current="page"' : ""}>${escaped(each.label)}</a></li>`;
  const groups = contents.map(
    (group) => `<h2>${escaped(group.title)}</h2>\n<ul>${group.entries.map(entry).join("\n")}</ul>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · agentcli and platform</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<header><a href="/docs">Documentation</a> <a href="/docs/api">API reference</a> <a href="/agents">Agents</a> <a class="narrow" href="#contents">Contents</a></header>
<main>${body}</main>
<nav id="contents" aria-label="Contents">${groups.join("\n")}</nav>
</body>
</html>
`;
}

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
