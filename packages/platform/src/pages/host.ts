// What the pages are made from.
import type { AgentHost } from "../agents/index.ts";
import type { GitHost } from "../githost/index.ts";
import type { Api } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Hub } from "../streams/index.ts";

export interface PageHost {
  platform: Platform;
  api: Api;
  hub: Hub;
  agents: AgentHost;
  githost: GitHost;
}
