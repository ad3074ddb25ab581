// Which role an agent has, and how it trusts the platform. Pure.

/** The secret, or the variable, with the ARN of the role. */
export const cloudRoleVariable = "PLATFORM_CLOUD_ASSUME_IAM_ROLE_ARN";

export const isRoleArn = (text: string): boolean =>
  /^arn:aws[a-z-]*:iam::\d{12}:role\/(?:[\w+=,.@-]+\/)*[\w+=,.@-]{1,64}$/.test(text) && text.length <= 2_048;

/** What the trust policy of a role names, so that no other team can have the platform assume it. */
export const externalIdOf = (teamId: number): string => `platform-team-${teamId}`;
