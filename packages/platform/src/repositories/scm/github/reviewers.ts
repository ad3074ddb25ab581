// Selects the reviewers to request: collaborators who were not requested yet and have not reviewed.
import { GithubRefusal } from "./api.ts";
import { readPages } from "./pages.ts";
import type { RepositoryRequest } from "./requests.ts";

export async function missingReviewers(
  request: RepositoryRequest,
  number: number,
  requested: string[],
): Promise<string[]> {
  if (requested.length === 0) return [];
  const pull = { pull_number: number };
  const { user } = await request("GET /repos/{owner}/{repo}/pulls/{pull_number}", pull);
  const { users } = await request("GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", pull);
  const reviews = await readPages((page) =>
    request("GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews", { ...pull, ...page }),
  );
  // GitHub does not accept the author as a reviewer.
  const excluded = [user, ...users, ...reviews.map((review) => review.user)].map((account) =>
    account?.login.toLowerCase(),
  );
  const missing = requested.filter((login) => !excluded.includes(login.toLowerCase()));
  const able = await Promise.all(missing.map((login) => isCollaborator(request, login)));
  return missing.filter((_login, index) => able[index]);
}

/** GitHub rejects the whole request if one reviewer is not a collaborator. */
async function isCollaborator(request: RepositoryRequest, username: string): Promise<boolean> {
  try {
    await request("GET /repos/{owner}/{repo}/collaborators/{username}", { username });
    return true;
  } catch (error) {
    if (error instanceof GithubRefusal && (error.status === 404 || error.status === 403)) return false;
    throw error;
  }
}
