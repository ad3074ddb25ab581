// A SearXNG server with fixed results, as its JSON API answers.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SearchServer {
  url: string;
  queries: string[];
  close(): Promise<void>;
}

export async function openSearchServer(
  results: { title: string; url: string; content: string }[],
): Promise<SearchServer> {
  const queries: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const query = searchParams.get("q") ?? "";
    if (pathname !== "/search" || searchParams.get("format") !== "json") {
      response.writeHead(403).end();
      return;
    }
    queries.push(query);
    const entries = results.map((result) => ({ ...result, engine: "fake", score: 1, category: "general" }));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ query, number_of_results: 0, results: entries, answers: [], suggestions: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
