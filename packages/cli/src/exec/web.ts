// What a run may do on the web: web_search and [web] of the configuration.
import type { HostedSearch, Tool } from "@agentcli/engine";
import type { Config, WireApi } from "@agentcli/protocol";

/** A provider of the Responses wire searches itself; one of the Anthropic wire only pages as they are now. */
export function hostedSearch(config: Config, wireApi: WireApi): { webSearch?: HostedSearch } {
  const { web_search: mode = "disabled", sandbox_workspace_write: write } = config;
  if (mode === "disabled" || !searchesItself(mode, wireApi)) return {};
  // The wire knows names only, each with everything below it.
  const allowedDomains = (write?.allowed_domains ?? []).map((name) => name.replace(/^\*+\.|:\d+$/g, ""));
  return { webSearch: { access: mode === "live" ? "live" : "cached", allowedDomains: allowedDomains.filter(isName) } };
}

const searchesItself = (mode: string, wireApi: WireApi): boolean =>
  wireApi === "responses" || (wireApi === "anthropic" && mode === "live");

const isName = (name: string): boolean => /^[a-z0-9.-]*[a-z][a-z0-9.-]*$/i.test(name);

/** Tools that reach the web as it is now. Loaded only then. */
export async function configuredWebTools(config: Config, wireApi: WireApi): Promise<Tool[]> {
  if (config.web_search !== "live") return [];
  const { allowed_domains: allowedDomains = [], denied_domains: deniedDomains = [] } =
    config.sandbox_workspace_write ?? {};
  const searchUrl = wireApi !== "chat" ? null : (config.web?.search_url ?? null);
  return (await import("@agentcli/host/web")).webTools({ allowedDomains, deniedDomains, searchUrl });
}

export function webWarnings(config: Config, wireApi: WireApi): string[] {
  const { web_search: mode = "disabled", web } = config;
  if (mode === "disabled" || searchesItself(mode, wireApi)) return [];
  if (mode !== "live")
    return [
      wireApi === "anthropic"
        ? `web_search = "${mode}" has no effect: this provider only searches pages as they are now. Use "live".`
        : `web_search = "${mode}" has no effect: this provider has no search of its own. Use "live" with web.search_url.`,
    ];
  return web?.search_url
    ? []
    : [
        "There is no web search: this provider has none of its own, and web.search_url is not set. Pages can be fetched.",
      ];
}
