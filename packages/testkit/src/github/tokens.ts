// Authentication: the app by its signed token, or a client with an access token and the permission.
import { randomBytes, verify } from "node:crypto";
import { type FakeRepository, GithubError, type GithubState, type Grant } from "./state.ts";

/** RS256, at most ten minutes old, issued by the test app. */
export function requireApp(state: GithubState, authorization: string | undefined): void {
  const [, text = ""] = /^bearer (\S+)$/i.exec(authorization ?? "") ?? [];
  const [header = "", claims = "", signature = ""] = text.split(".");
  const isGenuine = verify(
    "sha256",
    Buffer.from(`${header}.${claims}`),
    state.publicKey,
    Buffer.from(signature, "base64url"),
  );
  if (!isGenuine) throw new GithubError(401, "A JSON web token could not be decoded");
  const { iss, iat, exp } = JSON.parse(Buffer.from(claims, "base64url").toString());
  const now = Date.now() / 1_000;
  if (String(iss) !== state.appId) throw new GithubError(401, "'Issuer' claim ('iss') must be an Integer");
  if (exp - now > 600) throw new GithubError(401, "'Expiration time' claim ('exp') is too far in the future");
  if (exp < now || iat > now + 60) throw new GithubError(401, "'Expiration time' claim ('exp') must be in the future");
}

export interface AskedGrant {
  installation: number;
  repositories?: string[];
  permissions?: Record<string, string>;
}

export function grantFor(state: GithubState, asked: AskedGrant): Grant {
  const unknown = (asked.repositories ?? []).filter(
    (name) => !state.repositories.some((repository) => repository.name === name && repository.isInstalled),
  );
  if (unknown.length > 0)
    throw new GithubError(422, "There is at least one repository that does not exist or is not accessible");
  const { appPermissions } = state;
  const { permissions = appPermissions } = asked;
  const isGranted = ([name, level]: [string, string]) => ["write", level].includes(appPermissions[name] ?? "");
  if (!Object.entries(permissions).every(isGranted))
    throw new GithubError(422, "The permissions requested are not granted to this installation.");
  const repositories = asked.repositories ?? null;
  return addGrant(state, { kind: "app", login: appLogin, installation: asked.installation, repositories, permissions });
}

export const appLogin = "platform-app[bot]";

export function addGrant(state: GithubState, options: Omit<Grant, "token" | "expiresAt" | "isRevoked">): Grant {
  const token = `ghs_${randomBytes(18).toString("hex")}`;
  const grant = { ...options, token, expiresAt: Date.now() + state.tokenLifeMs, isRevoked: false };
  state.grants.push(grant);
  return grant;
}

export interface Need {
  repository: FakeRepository | undefined;
  permission: [name: string, level: "read" | "write"];
}

/** The grant of the token in the header; throws the error of GitHub where it does not suffice. */
export function requireGrant(state: GithubState, authorization: string | undefined, need: Need): Grant {
  const grant = findGrant(state, authorization);
  if (grant === undefined) throw new GithubError(401, "Bad credentials");
  const { repository, permission } = need;
  const isVisible =
    repository !== undefined && (grant.repositories === null || grant.repositories.includes(repository.name));
  if (!isVisible) throw new GithubError(404, "Not Found");
  const [name, level] = permission;
  const granted = grant.permissions[name];
  if (granted !== "write" && granted !== level) throw new GithubError(403, "Resource not accessible by integration");
  if (grant.kind === "person" && level === "write" && !repository.collaborators.includes(grant.login))
    throw new GithubError(404, "Not Found");
  return grant;
}

/** Tokens as the API accepts them, and as git sends them: as the password of any user name. */
export function findGrant(state: GithubState, authorization = ""): Grant | undefined {
  const [, scheme = "", text = ""] = /^(bearer|token|basic) (\S+)$/i.exec(authorization) ?? [];
  const token =
    scheme.toLowerCase() === "basic"
      ? Buffer.from(text, "base64")
          .toString()
          .replace(/^[^:]*:/, "")
      : text;
  return state.grants.find((grant) => grant.token === token && !grant.isRevoked && grant.expiresAt > Date.now());
}
