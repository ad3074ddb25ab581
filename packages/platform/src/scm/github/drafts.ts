// Opens draft pull requests on GitHub, and finds those that are open, whoever opened them.
import type { Endpoints } from "@octokit/types";
import type { Branches, Draft, PullRequest } from "../source-host.ts";
import { GithubRefusal } from "./api.ts";
import type { Ask } from "./ask.ts";
import type { GithubRepository } from "./host.ts";

export interface Opening {
  ask: Ask;
  /** In the name of whoever is to be its author. */
  create: Ask;
  github: GithubRepository;
}

export async function openDraft({ ask, create, github }: Opening, draft: Draft): Promise<PullRequest> {
  const { head, base } = draft;
  const known = await findOpen(ask, github, { head, base });
  if (known !== undefined) return known;
  try {
    return shownPull(await createDraft(create, draft));
  } catch (error) {
    if (!(error instanceof GithubRefusal) || error.status !== 422) throw error;
    // Somebody was faster, or an answer was lost on its way to us, or the repository belongs to somebody else by now.
    const { owner } = await ask("GET /repos/{owner}/{repo}", {});
    const repository = { ...github.repository, owner: owner.login };
    const found = await findOpen(ask, { repository }, { head, base });
    if (found === undefined) throw error;
    return found;
  }
}

/** Private repositories take drafts under some plans only. */
async function createDraft(create: Ask, { title, body, noDraftNote, head, base }: Draft) {
  const route = "POST /repos/{owner}/{repo}/pulls" as const;
  return create(route, { title, body, head, base, draft: true }).catch((error: unknown) => {
    const takesNone = error instanceof GithubRefusal && /draft pull requests are not supported/i.test(error.message);
    if (!takesNone) throw error;
    return create(route, { title, body: [body, noDraftNote].filter(Boolean).join("\n\n"), head, base, draft: false });
  });
}

export async function findOpen(
  ask: Ask,
  { repository }: Pick<GithubRepository, "repository">,
  { head, base }: Branches,
): Promise<PullRequest | undefined> {
  const found = await ask("GET /repos/{owner}/{repo}/pulls", {
    state: "open",
    head: `${repository.owner}:${head}`,
    base,
    per_page: 100,
  });
  // A filter it does not understand is no filter to GitHub.
  const pull = found.find((one) => one.head.ref === head && one.base.ref === base);
  return pull && shownPull(pull);
}

type Pull = Endpoints["GET /repos/{owner}/{repo}/pulls/{pull_number}"]["response"]["data"];
type ShownPull = Pick<Pull, "number" | "html_url" | "title" | "body" | "draft" | "merged_at"> & {
  state: string;
  head: { ref: string };
  base: { ref: string };
};

export const shownPull = (pull: ShownPull): PullRequest => ({
  number: pull.number,
  url: pull.html_url,
  title: pull.title,
  body: (pull.body ?? "").replaceAll("\r\n", "\n"),
  head: pull.head.ref,
  base: pull.base.ref,
  state: pull.merged_at ? "merged" : pull.state === "closed" ? "closed" : "open",
  isDraft: pull.draft ?? false,
});
