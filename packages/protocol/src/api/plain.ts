// What the platform needs of the API at its start: patterns, limits and rules, without a schema.

const uuid = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

export const agentIdPattern = new RegExp(`^bc-${uuid}$`);
export const runIdPattern = new RegExp(`^run-${uuid}$`);

export const maxInboxItems = 100;
export const maxSecretsPerOwner = 1000;

/** `https://Host/Owner/Repo.git` and `host/owner/repo` are the same repository. */
export function secretRepository(text: string): string | null {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/^(?:https?|ssh|git):\/\//, "")
    .replace(/^[^@/\s]+@/, "")
    .replace(/^([^/:\s]+):(?!\d+\/)/, "$1/")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  return /^[^\s/]+(?:\/[^\s/]+)+$/.test(plain) ? plain : null;
}
