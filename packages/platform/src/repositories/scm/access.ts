// Which repositories the agents of a team may access, by the administrator's settings. Pure except for the lookup of team names.
import { hostText } from "@agentcli/workspace/hosts";
import type { SourceHostSettings } from "../../foundation/index.ts";
import { type RepositoryUrl, shownUrl } from "./repository-url.ts";

export interface AccessRules {
  /** The reason for a refusal, phrased to follow the repository name; undefined if access is allowed. */
  refusal(teamId: number, url: RepositoryUrl): Promise<string | undefined>;
}

export interface AccessOptions extends Pick<SourceHostSettings, "blocked" | "protected"> {
  teamName(teamId: number): Promise<string | undefined>;
}

export function openAccessRules({ blocked, protected: protectedPatterns, teamName }: AccessOptions): AccessRules {
  const blockedMatchers = blocked.map(matcher);
  const protectedMatchers = protectedPatterns.map(({ pattern, teams }) => ({ matches: matcher(pattern), teams }));
  return {
    async refusal(teamId, url) {
      if (blockedMatchers.some((matches) => matches(url))) return "was excluded by the administrator of this platform";
      const matching = protectedMatchers.filter(({ matches }) => matches(url));
      if (matching.length === 0) return undefined;
      const name = (await teamName(teamId)) ?? "";
      // If several patterns match, each of them must allow the team.
      return matching.every(({ teams }) => teams.includes(name)) ? undefined : "is kept for another team";
    },
  };
}

/** A pattern without a star also matches everything below it: an organization matches its repositories. URLs that differ only in protocol, port, case or percent-encoding match alike. */
function matcher(pattern: string): (url: RepositoryUrl) => boolean {
  const parts = pattern.toLowerCase().split("*").map(escapeRegExp);
  const expression = new RegExp(`^${parts.join(".*")}(?:/.*)?$`);
  return (url) => matchableNames(url).some((name) => expression.test(name));
}

const escapeRegExp = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

function matchableNames(url: RepositoryUrl): string[] {
  const path = decodePath(url.path)
    .toLowerCase()
    .replace(/(?:\.git)+$/, "");
  const host = hostText(url.host).toLowerCase();
  const names = [host, `${host}:${url.port}`, host.replace(/^(?:www|ssh|altssh)\./, "")];
  return [shownUrl(url).toLowerCase(), ...names.map((name) => `${name}${path}`)];
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
