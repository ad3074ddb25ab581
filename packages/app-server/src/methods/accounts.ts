// account/*: which credential is used, and the login stored in the agent home. The key itself is never sent.
import { scrubber } from "@agentcli/engine";
import { findProvider, practice } from "@agentcli/models";
import type { Config } from "@agentcli/protocol";
import type { Account, NoticeOf, ParamsOf, ResultOf } from "@agentcli/protocol/app-server";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { type Call, type Host, type OpenPart, RpcError } from "../method.ts";
import type { Credential } from "../program.ts";
import { refusing } from "../refusing.ts";

export const openAccounts: OpenPart = (host) => ({
  methods: {
    "account/read": () => refusing(() => readAccount(host)),
    "account/login/start": (params, _, call) => refusing(() => logIn(params, call, host)),
    // Logins with a key are over at once: there is never one to cancel.
    "account/login/cancel": () => ({ status: "notFound" }),
    "account/logout": (_, __, call) =>
      refusing(async () => {
        const { config } = (await host.agent.configuration.load(null)).loaded;
        host.agent.credentials.remove();
        await announce(config, call, host);
        return {};
      }),
  },
  close: async () => {},
});

async function readAccount(host: Host): Promise<ResultOf<"account/read">> {
  const { config } = (await host.agent.configuration.load(null)).loaded;
  const account = accountOf(await host.agent.credentials.current(config));
  return { account, requiresOpenaiAuth: needsLogin(config, host) };
}

function needsLogin(config: Config, { program }: Host): boolean {
  const { model, model_provider: provider = "openai" } = config;
  if (model === practice || provider === practice) return false;
  return findProvider(provider, config, program.environment.variables).requires_openai_auth ?? false;
}

async function logIn(params: ParamsOf<"account/login/start">, call: Call, host: Host) {
  if (params.type !== "apiKey") throw unknownKind(params.type);
  const { config } = (await host.agent.configuration.load(null)).loaded;
  host.agent.credentials.save(params.apiKey);
  call.afterwards(() => host.broadcast("account/login/completed", { loginId: null, success: true, error: null }));
  await announce(config, call, host);
  return { type: "apiKey" as const };
}

const unknownKind = (type: string) =>
  new RpcError(
    rpcCodes.methodNotFound,
    `account/login/start with type ${type} is not supported by agentcli. Log in with type apiKey.`,
  );

/** Notifies all clients of the effective credential: an environment variable may take precedence over the login. */
async function announce(config: Config, call: Call, host: Host): Promise<void> {
  // A key that has just become known must not be logged by later runs.
  host.program.scrub = scrubber(host.agent.credentials.secrets());
  const authMode = authModeOf(await host.agent.credentials.current(config));
  call.afterwards(() => host.broadcast("account/updated", { authMode, planType: null }));
}

function accountOf(credential: Credential): Account | null {
  switch (credential.kind) {
    case "key":
      return { type: "apiKey" };
    case "account":
      return { type: "chatgpt", email: emailIn(credential.idToken), planType: "unknown" };
    case "none":
      return null;
  }
}

function authModeOf(credential: Credential): NoticeOf<"account/updated">["authMode"] {
  const account = accountOf(credential);
  return account && (account.type === "apiKey" ? "apikey" : "chatgpt");
}

/** Unverified: only shown. */
function emailIn(idToken: unknown): string | null {
  const [, payload = ""] = typeof idToken === "string" ? idToken.split(".") : [];
  try {
    const { email } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof email === "string" ? email : null;
  } catch {
    return null;
  }
}
