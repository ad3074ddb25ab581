// Whom to ask for a review: those who can be asked, and have neither been asked nor answered yet.
import { GithubRefusal } from "./api.ts";
import { type Ask, readPages } from "./ask.ts";

export async function missingReviewers(ask: Ask, number: number, wished: string[]): Promise<string[]> {
  if (wished.length === 0) return [];
  const pull = { pull_number: number };
  const { user } = await ask("GET /repos/{owner}/{repo}/pulls/{pull_number}", pull);
  const { users } = await ask("GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", pull);
  const reviews = await readPages((page) =>
    ask("GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews", { ...pull, ...page }),
  );
  // Nobody reviews what is their own.
  const settled = [user, ...users, ...reviews.map((review) => review.user)].map((one) => one?.login.toLowerCase());
  const missing = wished.filter((login) => !settled.includes(login.toLowerCase()));
  const able = await Promise.all(missing.map((login) => isCollaborator(ask, login)));
  return missing.filter((_login, index) => able[index]);
}

/** GitHub refuses the whole request where one of them is not. */
async function isCollaborator(ask: Ask, username: string): Promise<boolean> {
  try {
    await ask("GET /repos/{owner}/{repo}/collaborators/{username}", { username });
    return true;
  } catch (error) {
    if (error instanceof GithubRefusal && (error.status === 404 || error.status === 403)) return false;
    throw error;
  }
}
