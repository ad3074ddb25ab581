// Logs in to one server: connects, and asks the user for consent when the server requires it.

import { openConnection } from "../connection/index.ts";
import type { McpHost } from "../host.ts";
import type { HttpTransport, ServerSettings } from "../settings.ts";
import { oauthAuthorization } from "./authorization.ts";
import type { CredentialStore } from "./credentials.ts";
import { openLoopback } from "./loopback.ts";

export interface LoginOptions {
  settings: ServerSettings & { transport: HttpTransport };
  host: Omit<McpHost, "authorize">;
  store: CredentialStore;
  show(url: URL): void;
  /** How long to wait for the user. */
  timeoutMs: number;
}

export type LoginResult = { kind: "logged-in" } | { kind: "not-needed" } | { kind: "failed"; message: string };

export async function logIn(
  { settings, host, store, show, timeoutMs }: LoginOptions,
  signal: AbortSignal,
): Promise<LoginResult> {
  const { name, transport } = settings;
  const loopback = await openLoopback(transport.login.callbackPort, show);
  let hasTokens = false;
  const observedStore: CredentialStore = {
    ...store,
    async write(server, credentials) {
      await store.write(server, credentials);
      hasTokens = true;
    },
  };
  try {
    const authorize = () =>
      oauthAuthorization({
        server: name,
        transport,
        store: observedStore,
        clientName: host.client.name,
        consent: loopback,
        advice: "try again",
      });
    const connected = await openConnection(
      {
        settings,
        host: { ...host, authorize },
        processId: `login-${name}`,
        timeoutMs,
        onToolsChanged: () => {},
        onLost: () => {},
      },
      signal,
    );
    if (connected.kind === "fault") return { kind: "failed", message: connected.fault.message };
    await connected.connection.client.close();
    return { kind: hasTokens ? "logged-in" : "not-needed" };
  } finally {
    loopback.close();
  }
}
