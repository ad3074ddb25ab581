// Globs of rules: without a slash they judge the name of a file, with one its path from the rule's directory.
// Matched by following all ways at once: a repository must not be able to write a glob that takes for ever.

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

const mostWays = 64;

/** `a{b,c}` as `ab` and `ac`; beyond a bound, or where a brace does not close, braces are plain characters. */
function expandBraces(glob: string): string[] {
  let ways = [glob];
  for (;;) {
    const expanded = ways.flatMap((way) => {
      const brace = /^([^{}]*)\{([^{}]*)\}([\s\S]*)$/.exec(way);
      return brace ? (brace[2] ?? "").split(",").map((choice) => `${brace[1]}${choice}${brace[3]}`) : [way];
    });
    if (expanded.length > mostWays || expanded.join() === ways.join()) return ways;
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

/** A place is twice the token it stands before, plus one inside a run of folders that has not reached its slash. */
function follow(tokens: Token[], path: string): boolean {
  let places = reach([0], tokens);
  for (const character of path) {
    places = reach(
      places.flatMap((place) => advance(place, tokens[place >> 1], character)),
      tokens,
    );
    if (places.length === 0) return false;
  }
  return places.includes(tokens.length * 2);
}

function advance(place: number, token: Token | undefined, character: string): number[] {
  const next = (place | 1) + 1;
  switch (token?.match) {
    case undefined:
      return [];
    case "character":
      return token.character === character ? [next] : [];
    case "one":
      return character === "/" ? [] : [next];
    case "name":
      return character === "/" ? [] : [place];
    case "anything":
      return [place];
    case "folders":
      return character === "/" ? [place | 1, next] : [place | 1];
  }
}

/** With the places that can be had without a character: stars and runs of folders may be empty. */
function reach(places: number[], tokens: Token[]): number[] {
  const found = new Set(places);
  for (const place of found) {
    const match = tokens[place >> 1]?.match;
    const isEmptiable = match === "name" || match === "anything" || (match === "folders" && place % 2 === 0);
    if (isEmptiable) found.add((place | 1) + 1);
  }
  return [...found];
}
