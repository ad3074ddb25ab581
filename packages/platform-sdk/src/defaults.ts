// What `Platform.configure` has set for all calls that say nothing else.
import type { LocalAgentStore } from "./local-store.ts";

export interface ConfigureOptions {
  local?: {
    /** Where local agents are kept; null goes back to the files. */
    store?: LocalAgentStore | null;
    /** Taken and without effect: requests are HTTP/1.1 always. */
    useHttp1ForAgent?: boolean | null;
    /** Taken and without effect: a project is looked through anew for every run. */
    workspaceScanCacheTtlMs?: number | null;
  };
}

export interface Defaults {
  configure(options: ConfigureOptions): void;
  localStore(): LocalAgentStore | undefined;
}

export function openDefaults(): Defaults {
  let store: LocalAgentStore | undefined;
  return {
    configure({ local = {} }) {
      if (local.store !== undefined) store = local.store ?? undefined;
    },
    localStore: () => store,
  };
}
