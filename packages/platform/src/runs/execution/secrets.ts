// The secrets of a run: of its variables every value except a short list of common words, and those of its MCP servers.
import { type Scrub, type Secret, scrubber } from "@agentcli/engine";
import { headerSecrets } from "@agentcli/host";
import type { McpServer } from "@agentcli/protocol/api";
import type { BoundSecret, SecretUse } from "@agentcli/workspace";
import { cloudRoleVariable } from "../../cloud-roles/index.ts";
import type { DataKey, Queries } from "../../foundation/index.ts";
import { type AgentSecret, recordedSecrets, secretsToRedact, usesOf } from "../../secrets/index.ts";

export const secretsOfServer = (server: McpServer): Secret[] =>
  "command" in server ? secretsIn(server.env ?? {}) : headerSecrets(server.name, server.headers);

/**
 * A word such as `production` occurs in many texts, and redacting it hides nothing. Only values of this closed
 * list are not redacted: nothing in any other value shows whether it is a secret.
 */
export const secretsIn = (variables: Record<string, string>): Secret[] =>
  Object.entries(variables).flatMap(([name, value]) =>
    isKnownToAll(name, value) ? [] : secretsToRedact([{ name, value }]),
  );

/** Whatever their values are: the owner said that they are secret. Variables of type environment_variable may be seen. */
export const runtimeSecrets = (secrets: AgentSecret[]): Secret[] =>
  secretsToRedact(secrets.filter(({ name, type }) => type === "runtime_secret" && !isShown(name)));

/** For what the agent has written into files. */
export const scrubOfAgent = async (db: Queries, agent: { id: string }, key: DataKey): Promise<Scrub> =>
  scrubber(runtimeSecrets(await recordedSecrets(db, { agent, key })));

/** The name of a role opens nothing, and refusals of AWS are of no use without it. */
const isShown = (name: string): boolean => name === cloudRoleVariable;

/** For the proxy; none where commands have the value itself. */
export const boundOf = ({ name, value, placeholder, binding }: AgentSecret): BoundSecret[] =>
  placeholder === undefined || !binding
    ? []
    : [{ name, value, placeholder, hosts: binding.hosts, uses: usesOf(binding.uses) as SecretUse[] }];

const isKnownToAll = (name: string, value: string): boolean =>
  !secretName.test(name) && commonplace.some((pattern) => pattern.test(value.trim()));

const secretName = /key|token|secret|pass|pwd|cred|auth|cookie|session|sign|private|salt|seed|code|pin|otp|login|cert/i;

const commonplace = [
  /^(?:true|false|enabled?|disabled?|default|always|never|verbose|silent|warning|notice|undefined|required|optional)$/i,
  /^(?:development|production|staging|testing|preview|sandbox|localhost|container|nightly|release|stable)$/i,
  /^(?:postgres(?:ql)?|sqlite3?|mariadb|mongodb|rabbitmq|chromium|firefox|webkit|typescript|javascript|python3?)$/i,
  /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{1,5})?\/?$/i,
  /^v?\d{1,3}(?:\.\d{1,3}){1,3}$/,
  /^[a-z]{2}_[A-Z]{2}(?:\.UTF-8)?$|^C\.UTF-8$/,
  /^\/(?:usr|usr\/local|usr\/bin|usr\/local\/bin|home|workspace)\/?$/,
];
