// Reads a patch of git into files, hunks and lines.
export interface PatchLine {
  kind: "same" | "add" | "remove" | "note";
  text: string;
  /** Line numbers; null where the file has no such line or the patch does not say. */
  before: number | null;
  after: number | null;
}

export interface Hunk {
  head: string;
  lines: PatchLine[];
}

export interface PatchFile {
  path: string;
  /** Of a renamed file. */
  from: string | null;
  change: "added" | "removed" | "renamed" | "changed";
  isBinary: boolean;
  /** Names its content before and after, as git abbreviates them; "" where the patch does not. */
  blobs: string;
  hunks: Hunk[];
  added: number;
  removed: number;
}

export const readPatch = (patch: string): PatchFile[] =>
  patch
    .split(/^(?=diff --git )/m)
    .filter((text) => text.startsWith("diff --git "))
    .map(readFile);

function readFile(text: string): PatchFile {
  const lines = text.replace(/\n$/, "").split("\n");
  const start = lines.findIndex((line) => line.startsWith("@@"));
  const header = start < 0 ? lines : lines.slice(0, start);
  const value = (prefix: string) => header.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const hunks = start < 0 ? [] : readHunks(lines.slice(start));
  const [, named = ""] = /^diff --git "?a\/(.+?)"? "?b\//.exec(lines[0] ?? "") ?? [];
  const from = value("rename from ") ?? null;
  const path = value("rename to ") ?? value("+++ b/") ?? value("--- a/") ?? named;
  const count = (kind: PatchLine["kind"]) =>
    hunks.reduce((total, hunk) => total + hunk.lines.filter((line) => line.kind === kind).length, 0);
  return {
    path: path.replace(/\t$/, ""),
    from,
    change: changeOf(header),
    isBinary: header.some((line) => /^(?:GIT binary patch|Binary files )/.test(line)),
    blobs: value("index ") ?? "",
    hunks,
    added: count("add"),
    removed: count("remove"),
  };
}

function changeOf(header: string[]): PatchFile["change"] {
  if (header.some((line) => line.startsWith("new file mode"))) return "added";
  if (header.some((line) => line.startsWith("deleted file mode"))) return "removed";
  return header.some((line) => line.startsWith("rename to ")) ? "renamed" : "changed";
}

/** Also for hunks without line numbers, which edits of an agent have. */
export function readHunks(lines: string[]): Hunk[] {
  const hunks: Hunk[] = [];
  let [before, after]: [number | null, number | null] = [null, null];
  for (const line of lines) {
    if (line.startsWith("@@")) {
      const [, old, next, title = ""] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line) ?? [];
      [before, after] = [old === undefined ? null : Number(old), next === undefined ? null : Number(next)];
      hunks.push({ head: old === undefined ? line.slice(2).trim() : title, lines: [] });
      continue;
    }
    const kind = kinds[line[0] ?? " "] ?? "note";
    hunks.at(-1)?.lines.push({
      kind,
      text: line.slice(1),
      before: kind === "same" || kind === "remove" ? before : null,
      after: kind === "same" || kind === "add" ? after : null,
    });
    if (before !== null && (kind === "same" || kind === "remove")) before += 1;
    if (after !== null && (kind === "same" || kind === "add")) after += 1;
  }
  return hunks;
}

const kinds: Record<string, PatchLine["kind"]> = { " ": "same", "+": "add", "-": "remove", "\\": "note" };
