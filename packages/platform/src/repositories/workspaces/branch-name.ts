// The name of the branch created for an agent. Pure.

const maxSlugCharacters = 40;

/** `platform/<slug>-<short id>`: readable, unique per agent and always a valid branch name. */
export function branchName(agentName: string, agentId: string): string {
  const shortId = agentId.replace(/^bc-/, "").replaceAll("-", "").slice(0, 8).toLowerCase();
  return `platform/${slugOf(agentName)}-${shortId}`;
}

function slugOf(name: string): string {
  const words = name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  let slug = "";
  for (const word of words) {
    if (slug.length + word.length + 1 > maxSlugCharacters) break;
    slug = slug === "" ? word : `${slug}-${word}`;
  }
  return slug || words[0]?.slice(0, maxSlugCharacters) || "work";
}
