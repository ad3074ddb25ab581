// Globs as ripgrep reads them: without a slash they judge the name, with one the path from the root.

/** Null when a bracket or brace is not closed. */
export function compileGlob(glob: string): ((path: string) => boolean) | null {
  const negated = glob.startsWith("!");
  const body = negated ? glob.slice(1) : glob;
  const expression = globExpression(body.startsWith("/") ? body.slice(1) : body, body.includes("/") ? "path" : "name");
  if (expression === null) return null;
  return (path) => expression.test(path) !== negated;
}

const token = /\*\*\/|\*\*|\[[!^]?\]?[^\]]*\]|\\.|./gsu;

/** Matches a whole path, or its name. Null for what is not a glob. */
function globExpression(glob: string, judges: "path" | "name"): RegExp | null {
  const source = globSource(glob);
  if (source === null) return null;
  try {
    return new RegExp(`^${judges === "path" ? "" : "(?:.*/)?"}${source}$`, "su");
  } catch (error) {
    // Such as a class whose range is the wrong way round.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function globSource(glob: string): string | null {
  let depth = 0;
  let source = "";
  for (const [piece] of glob.matchAll(token)) {
    if (/^\[(?:[!^]?\])?$/.test(piece) || (piece === "}" && depth === 0)) return null;
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
