// Opens draft pull requests on GitHub, and finds those that are open, whoever opened them.
import type { Endpoints } from "@octokit/types";
import type { Branches, Draft, PullRequest } from "../source-host.ts";
import { GithubRefusal } from "./api.ts";
import type { Ask } from "./ask.ts";

export interface Opening {
  finding: Finding;
  /** In the name of whoever is to be its author. */
  create: Ask;
}

export async function openDraft({ finding, create }: Opening, draft: Draft): Promise<PullRequest> {
  const { head, base } = draft;
  const known = await findOpen(finding, { head, base });
  if (known !== undefined) return known;
  try {
    return shownPull(await createDraft(create, draft));
  } catch (error) {
    // Somebody was faster, or an answer was lost on its way to us.
    const isThere = error instanceof GithubRefusal && error.status === 422;
    const found = isThere ? await findOpen(finding, { head, base }) : undefined;
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

export interface Finding {
  ask: Ask;
  /** As the address has it. */
  owner: string;
  /** Whose the repository is by now. */
  presentOwner(): Promise<string>;
}

export function openFinding(ask: Ask, owner: string): Finding {
  let present: Promise<string> | undefined;
  const presentOwner = () => {
    present ??= ask("GET /repos/{owner}/{repo}", {}).then((repository) => repository.owner.login);
    return present;
  };
  return { ask, owner, presentOwner };
}

export async function findOpen(finding: Finding, branches: Branches): Promise<PullRequest | undefined> {
  const { owner, presentOwner } = finding;
  const found = await findOf(owner, finding, branches);
  if (found !== undefined) return found;
  const present = await presentOwner();
  return present.toLowerCase() === owner.toLowerCase() ? undefined : findOf(present, finding, branches);
}

/** GitHub looks for heads by the owner of their repository, who may have changed. */
async function findOf(owner: string, { ask }: Finding, { head, base }: Branches): Promise<PullRequest | undefined> {
  const query = { state: "open" as const, head: `${owner}:${head}`, base, per_page: 100 };
  const found = await ask("GET /repos/{owner}/{repo}/pulls", query);
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
