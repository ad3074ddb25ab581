// A login to one server: connects, and lets a person consent when the server asks for it.
import type { McpHost } from "../host.ts";
import { openLink } from "../link.ts";
import type { HttpTransport, ServerSettings } from "../settings.ts";
import { oauthAuthorization } from "./authorization.ts";
import type { CredentialStore } from "./credentials.ts";
import { openLoopback } from "./loopback.ts";

export interface LoginOptions {
  settings: ServerSettings & { transport: HttpTransport };
  host: Omit<McpHost, "authorize">;
  store: CredentialStore;
  show(url: URL): void;
  /** Longest wait for the person. */
  limitMs: number;
}

export type LoggedIn = { kind: "logged-in" } | { kind: "not-needed" } | { kind: "failed"; message: string };

export async function logIn(
  { settings, host, store, show, limitMs }: LoginOptions,
  signal: AbortSignal,
): Promise<LoggedIn> {
  const { name, transport } = settings;
  const loopback = await openLoopback(transport.login.callbackPort, show);
  let hasTokens = false;
  const noting: CredentialStore = {
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
        store: noting,
        clientName: host.client.name,
        consent: loopback,
        advice: "try again",
      });
    const linked = await openLink(
      {
        settings,
        host: { ...host, authorize },
        processId: `login-${name}`,
        limitMs,
        onToolsChanged: () => {},
        onLost: () => {},
      },
      signal,
    );
    if (linked.kind === "fault") return { kind: "failed", message: linked.fault.message };
    await linked.link.conversation.close();
    return { kind: hasTokens ? "logged-in" : "not-needed" };
  } finally {
    loopback.close();
  }
}
