// Which repositories agents of a team may reach, by what the administrator wrote down. Pure, but for the names of teams.
import { hostText } from "@agentcli/workspace/hosts";
import type { SourceHostSettings } from "../config/index.ts";
import { type RepositoryUrl, shownUrl } from "./repository-url.ts";

export interface AccessRules {
  /** Why not, in the words that follow the name of the repository; undefined where they may. */
  refusal(teamId: number, url: RepositoryUrl): Promise<string | undefined>;
}

export interface AccessOptions extends Pick<SourceHostSettings, "blocked" | "protected"> {
  teamName(teamId: number): Promise<string | undefined>;
}

export function openAccessRules({ blocked, protected: kept, teamName }: AccessOptions): AccessRules {
  const closed = blocked.map(matcher);
  const reserved = kept.map(({ pattern, teams }) => ({ matches: matcher(pattern), teams }));
  return {
    async refusal(teamId, url) {
      if (closed.some((matches) => matches(url))) return "was excluded by the administrator of this platform";
      const others = reserved.filter(({ matches }) => matches(url));
      if (others.length === 0) return undefined;
      const name = (await teamName(teamId)) ?? "";
      // Where several patterns are about it, each must let the team in.
      return others.every(({ teams }) => teams.includes(name)) ? undefined : "is kept for another team";
    },
  };
}

/** A name without a star stands for what is below it too: an organization for its repositories. However the address was written: protocol, port, case and disguised letters make no other repository of it. */
function matcher(pattern: string): (url: RepositoryUrl) => boolean {
  const parts = pattern.toLowerCase().split("*").map(escaped);
  const whole = new RegExp(`^${parts.join(".*")}(?:/.*)?$`);
  return (url) => namesOf(url).some((name) => whole.test(name));
}

const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

function namesOf(url: RepositoryUrl): string[] {
  const path = decoded(url.path)
    .toLowerCase()
    .replace(/(?:\.git)+$/, "");
  const host = hostText(url.host).toLowerCase();
  const names = [host, `${host}:${url.port}`, host.replace(/^(?:www|ssh|altssh)\./, "")];
  return [shownUrl(url).toLowerCase(), ...names.map((name) => `${name}${path}`)];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
