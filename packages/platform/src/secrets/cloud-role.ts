// What the secret with the role of agents must be: the ARN of a role, which commands see.
import type { SecretPhase, SecretType } from "@agentcli/protocol/api";
import { cloudRoleVariable, isRoleArn } from "../cloud-roles/index.ts";
import { ApiError } from "../foundation/index.ts";

interface Role {
  name: string;
  value: string;
  hosts?: string[] | undefined;
  phase?: SecretPhase | undefined;
  type?: SecretType | undefined;
}

/** Throws ApiError `validation_error`. */
export function refuseUnusableRole({ name, value, hosts = [], phase, type }: Role): void {
  if (name !== cloudRoleVariable) return;
  if (!isRoleArn(value))
    throw refusal(`value: ${name} has to be the ARN of a role of AWS, such as arn:aws:iam::111122223333:role/agents.`);
  if (hosts.length > 0)
    throw refusal(`hosts: ${name} names a role and is not sent to any host. Leave them out, and bind other secrets.`);
  if ((phase ?? "run") !== "run" || type === "build_secret")
    throw refusal(`phase: builds get no credentials of a role. Set ${name} for the commands of agents (phase run).`);
}

const refusal = (message: string): ApiError => new ApiError("validation_error", message);
