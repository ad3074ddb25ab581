// Which environment variables never reach a tool.
export interface DeniedVariables {
  /** A regular expression, matched anywhere in the name, upper and lower case alike. */
  pattern?: string;
  names?: string[];
}

const likeSecrets = "KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL";

export function denies(denied: DeniedVariables = {}): (name: string) => boolean {
  const pattern = new RegExp(denied.pattern ?? likeSecrets, "i");
  const names = new Set(denied.names ?? []);
  return (name) => names.has(name) || pattern.test(name);
}
