// What the pages are made from.
import type { AgentHost } from "../agents/index.ts";
import type { GitHost } from "../githost/index.ts";
import type { Diffs } from "../handoff/index.ts";
import type { Api } from "../http/index.ts";
import type { OidcLogin } from "../oidc/index.ts";
import type { Platform } from "../platform.ts";
import type { GithubAccounts } from "../scm/index.ts";
import type { StreamHost } from "../streams/index.ts";

export interface PageHost {
  platform: Platform;
  api: Api;
  streams: StreamHost;
  agents: AgentHost;
  diffs: Diffs;
  githost: GitHost;
  /** Where users can connect accounts; null where they cannot. */
  github: GithubAccounts | null;
  /** The provider that users log in with; null where there is none. */
  oidc: OidcLogin | null;
}
