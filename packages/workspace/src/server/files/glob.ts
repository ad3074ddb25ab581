// Globs as ripgrep reads them: without a slash they judge the name, with one the path from the root.

/** Null when a bracket or brace is not closed. */
export function compileGlob(glob: string): ((path: string) => boolean) | null {
  const negated = glob.startsWith("!");
  const body = negated ? glob.slice(1) : glob;
  const source = translate(body.startsWith("/") ? body.slice(1) : body);
  if (source === null) return null;
  const expression = new RegExp(`^${body.includes("/") ? "" : "(?:.*/)?"}${source}$`, "su");
  return (path) => expression.test(path) !== negated;
}

const token = /\*\*\/|\*\*|\[[!^]?\]?[^\]]*\]|\\.|./gsu;

function translate(glob: string): string | null {
  let depth = 0;
  let source = "";
  for (const [piece] of glob.matchAll(token)) {
    if (piece === "[" || (piece === "}" && depth === 0)) return null;
    if (piece === "{") depth += 1;
    if (piece === "}") depth -= 1;
    source += piece === "," && depth > 0 ? "|" : (wildcards[piece] ?? literal(piece));
  }
  return depth === 0 ? source : null;
}

const wildcards: Record<string, string> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
  "{": "(?:",
  "}": ")",
};

function literal(piece: string): string {
  if (piece.length > 2 && piece.startsWith("[")) return characterClass(piece);
  const character = piece.length > 1 && piece.startsWith("\\") ? piece.slice(1) : piece;
  return character.replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&");
}

function characterClass(piece: string): string {
  const negated = /^\[[!^]/.test(piece);
  const members = piece.slice(negated ? 2 : 1, -1).replace(/[\\[\]^&]/g, "\\$&");
  return `[${negated ? "^/" : ""}${members}]`;
}
