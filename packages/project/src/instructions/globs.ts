// Globs of rules: without a slash they match the name of a file, with one its path relative to the rule's directory.
// Matched by following all states at once: a repository must not be able to cause exponential time.

export function compileGlob(glob: string): (path: string) => boolean {
  const body = glob.replace(/^\.?\//, "");
  const anywhere = body.includes("/") ? "" : "**/";
  const ways = expandBraces(anywhere + body).map(tokensOf);
  return (path) => ways.some((tokens) => follow(tokens, path));
}

/** `*.ts, src/{a,b}/**`: commas within braces belong to the glob. */
export function splitGlobs(text: string): string[] {
  const globs: string[] = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    if (character === "," && depth <= 0) globs.push("");
    else globs.push((globs.pop() ?? "") + character);
  }
  return globs.map((glob) => glob.trim()).filter((glob) => glob !== "");
}

const maxWays = 64;

/** `a{b,c}` as `ab` and `ac`; above a limit, or without a closing brace, braces are plain characters. */
function expandBraces(glob: string): string[] {
  let ways = [glob];
  for (;;) {
    const expanded = ways.flatMap((way) => {
      const brace = /^([^{}]*)\{([^{}]*)\}([\s\S]*)$/.exec(way);
      return brace ? (brace[2] ?? "").split(",").map((choice) => `${brace[1]}${choice}${brace[3]}`) : [way];
    });
    if (expanded.length > maxWays || expanded.join() === ways.join()) return ways;
    ways = expanded;
  }
}

type Token = { match: "character"; character: string } | { match: "one" | "name" | "anything" | "folders" };

const tokensOf = (glob: string): Token[] =>
  [...glob.matchAll(/\*\*\/|\*{2,}|[\s\S]/gu)].map(([piece]): Token => {
    if (piece === "**/") return { match: "folders" };
    if (piece.startsWith("**")) return { match: "anything" };
    if (piece === "*") return { match: "name" };
    return piece === "?" ? { match: "one" } : { match: "character", character: piece };
  });

/** A state is twice the index of its token, plus one inside a run of folders that has not reached its slash. */
function follow(tokens: Token[], path: string): boolean {
  let positions = reach([0], tokens);
  for (const character of path) {
    positions = reach(
      positions.flatMap((position) => advance(position, tokens[position >> 1], character)),
      tokens,
    );
    if (positions.length === 0) return false;
  }
  return positions.includes(tokens.length * 2);
}

function advance(position: number, token: Token | undefined, character: string): number[] {
  const next = (position | 1) + 1;
  switch (token?.match) {
    case undefined:
      return [];
    case "character":
      return token.character === character ? [next] : [];
    case "one":
      return character === "/" ? [] : [next];
    case "name":
      return character === "/" ? [] : [position];
    case "anything":
      return [position];
    case "folders":
      return character === "/" ? [position | 1, next] : [position | 1];
  }
}

/** With the states that are reachable without a character: stars and runs of folders may be empty. */
function reach(positions: number[], tokens: Token[]): number[] {
  const found = new Set(positions);
  for (const position of found) {
    const match = tokens[position >> 1]?.match;
    const isEmptiable = match === "name" || match === "anything" || (match === "folders" && position % 2 === 0);
    if (isEmptiable) found.add((position | 1) + 1);
  }
  return [...found];
}
