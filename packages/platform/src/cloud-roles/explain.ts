// Why there are no credentials of a role, and what to do next, for the agent and the people who read its run. Pure.
import type { CloudRoleSettings } from "../foundation/index.ts";
import { cloudRoleVariable, externalIdOf } from "./role.ts";
import type { StsAnswer } from "./sts.ts";

export interface RoleFacts {
  roleArn: string;
  teamId: number;
  /** Of identity tokens. */
  issuer: string;
  settings: Pick<CloudRoleSettings, "audience" | "credentials" | "endpoint" | "region">;
}

/** In place of a code of AWS, which would give the role to any team. */
export const openToAll = "OpenToAll";

export function explain(answer: Exclude<StsAnswer, { kind: "given" }>, facts: RoleFacts): string {
  const { roleArn, settings } = facts;
  if (answer.kind === "unreachable")
    return `No credentials for the role ${roleArn}: ${settings.endpoint} did not answer (${answer.message}). Try again in a minute; if that does not help, an operator has to check cloud_roles.endpoint and the network of the server.`;
  if (answer.code === openToAll)
    return `The platform gives no credentials for the role ${roleArn}: its trust policy would let every team of this platform have it. Allow sts:AssumeRole only where sts:ExternalId is ${externalIdOf(facts.teamId)}.`;
  const what = `${answer.code} ${answer.message}`.trim().replace(/\.$/, "");
  return `AWS gives no credentials for the role ${roleArn}: ${what}. ${remedyFor(answer.code, facts)}`;
}

function remedyFor(code: string, facts: RoleFacts): string {
  const { settings } = facts;
  switch (code) {
    case "AccessDenied":
      return trustNeeded(facts);
    case "InvalidIdentityToken":
    case "IDPCommunicationError":
    case "IDPRejectedClaim":
      return `${providerNeeded(facts)} AWS has to reach that address.`;
    case "InvalidClientTokenId":
    case "UnrecognizedClientException":
      return "An operator has to put other credentials into the variable that cloud_roles.access_key_id_env names.";
    case "SignatureDoesNotMatch":
      return "An operator has to check the variable that cloud_roles.secret_access_key_env names, and the clock of the server.";
    case "ExpiredToken":
    case "ExpiredTokenException":
      return "An operator has to give the server new credentials, and to check its clock.";
    case "RegionDisabledException":
      return `Activate STS in the region ${settings.region} of that account, or set cloud_roles.region.`;
    case "ValidationError":
      return `Check the ARN of the role in the secret ${cloudRoleVariable}.`;
    default:
      return "Check the role and its trust policy.";
  }
}

function trustNeeded(facts: RoleFacts): string {
  const { teamId, settings } = facts;
  if (settings.credentials !== null)
    return `The role has to exist, and its trust policy to allow sts:AssumeRole to the account of this platform where sts:ExternalId is ${externalIdOf(teamId)}.`;
  return `The role has to exist, and its trust policy to allow sts:AssumeRoleWithWebIdentity where the audience is ${settings.audience} and the subject is team_id:${teamId}. ${providerNeeded(facts)}`;
}

const providerNeeded = ({ issuer, settings }: RoleFacts): string =>
  `The account of the role needs an identity provider (OpenID Connect) for ${issuer} with the audience ${settings.audience}.`;
