// Asks a SearXNG server, whose address the user configured, through its JSON API.

export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
}

export type SearchAnswer = { kind: "results"; results: SearchResult[] } | { kind: "problem"; message: string };

const maxResults = 10;
const timeoutMs = 20_000;

export async function searchWeb(query: string, server: string, signal: AbortSignal): Promise<SearchAnswer> {
  const url = new URL(`${server.replace(/\/+$/, "").replace(/\/search$/, "")}/search`);
  url.searchParams.set("q", query);
  url.searchParams.set("format", "json");
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const response = await fetch(url, { signal: limited, redirect: "error", headers: { accept: "application/json" } });
    if (response.status === 403)
      return problem("The search server refuses JSON: add json to search.formats in its settings.yml.");
    if (!response.ok) return problem(`The search server answered with status ${response.status}.`);
    const { results } = (await response.json()) as { results?: unknown };
    return {
      kind: "results",
      results: (Array.isArray(results) ? results : []).slice(0, maxResults).flatMap(readResult),
    };
  } catch (error) {
    const cause = (error as { cause?: Error }).cause?.message ?? (error as Error).message;
    return problem(`The search server at ${url.origin} could not be asked: ${cause}. Check web.search_url.`);
  }
}

const problem = (message: string): SearchAnswer => ({ kind: "problem", message });

function readResult(value: unknown): SearchResult[] {
  const { title, url, content } = (value ?? {}) as Record<string, unknown>;
  if (typeof url !== "string" || !/^https?:/.test(url)) return [];
  return [{ title: textOf(title) || url, url, snippet: textOf(content) }];
}

const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
        .replace(/<[^<>]*>/g, "")
        .replace(/\s+/g, " ")
        .trim()
        .slice(0, 500)
    : "";
