// A patch on a page: one section per file, with its size; large ones are collapsed, and huge patches are cut.
import { capPatch } from "../repositories/index.ts";
import { type Html, html } from "./html.ts";

const maxOpenLines = 400;

export interface DiffViewOptions {
  /** Where the whole patch is. */
  wholeUrl: string;
}

export function diffView(patch: Buffer, { wholeUrl }: DiffViewOptions): Html {
  if (patch.length === 0) return html`<p class="empty">Nothing is changed.</p>`;
  const shown = capPatch(patch);
  const rest = patch.length - shown.length;
  return html`${shown
    .toString("utf8")
    .split(/^(?=diff --git )/m)
    .map(fileSection)}${
    rest > 0 &&
    html`<p class="notice">The last ${rest} bytes are not shown. <a href="${wholeUrl}">Download the whole patch</a>.</p>`
  }`;
}

function fileSection(patch: string): Html {
  const lines = patch.replace(/\n$/, "").split("\n");
  const changed = (sign: string) =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return html`<details${lines.length <= maxOpenLines && html` open`}>
<summary><code>${nameIn(lines)}</code> +${changed("+")} -${changed("-")}</summary>
<pre class="diff">${lines.map(diffLine)}</pre>
</details>`;
}

/** The name after the change; before it for a deleted file. */
function nameIn([first = "", ...rest]: string[]): string {
  const header = rest.slice(0, 12);
  const after = header.find((line) => line.startsWith("+++ b/"))?.slice(6);
  return after ?? header.find((line) => line.startsWith("--- a/"))?.slice(6) ?? first.replace(/^diff --git /, "");
}

function diffLine(line: string): Html {
  const kind = line.startsWith("@@") || /^(diff|index|---|\+\+\+)/.test(line) ? "hunk" : kinds[line[0] ?? ""];
  return kind ? html`<span class="${kind}">${line}</span>\n` : html`${line}\n`;
}

const kinds: Record<string, string> = { "+": "add", "-": "del" };
