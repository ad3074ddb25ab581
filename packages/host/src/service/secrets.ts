// Secrets in the settings of an MCP server, found by the names of its headers and variables.
import type { Secret } from "@agentcli/engine";

/** Values of other headers, such as content types, occur in many texts and are not redacted. */
const secretHeader = /auth|token|key|secret|cookie|pass|session|credential/i;
const secretVariable = /key|token|secret|password|passwd|credential/i;

type Members = Record<string, string> | undefined;

export const headerSecrets = (server: string, headers: Members): Secret[] => secretsIn(server, headers, secretHeader);

export const variableSecrets = (server: string, env: Members): Secret[] => secretsIn(server, env, secretVariable);

const secretsIn = (server: string, members: Members, isSecret: RegExp): Secret[] =>
  Object.entries(members ?? {})
    .filter(([name]) => isSecret.test(name))
    .flatMap(([name, value]) =>
      // Also without the scheme, as in `Bearer …`.
      [value, ...value.split(/\s+/).slice(1)].map((part) => ({ name: `${server}.${name}`, value: part })),
    );
