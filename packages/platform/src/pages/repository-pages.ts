// The pages of repositories of the embedded git host and their pull requests.
import type { CommentRecord, PullRequestRecord, ReviewRecord } from "../repositories/index.ts";
import { diffView } from "./diff-view.ts";
import { type Html, html } from "./html.ts";
import { hiddenToken, moment } from "./layout.ts";
import { badge, button } from "./parts.ts";

export const pullsPage = (name: string, pulls: PullRequestRecord[]): Html => html`
<h1>${name}</h1>
<h2>Pull requests</h2>
${
  pulls.length === 0
    ? html`<p class="empty">None yet.</p>`
    : html`<table>
<thead><tr><th>#</th><th>Title</th><th>State</th><th>From</th><th>Opened</th></tr></thead>
<tbody>${pulls.map(
        (
          pull,
        ) => html`<tr><td>${pull.number}</td><td><a href="/repositories/${name}/pulls/${pull.number}">${pull.title}</a></td>
<td>${stateOf(pull)}</td><td><code>${pull.head}</code></td><td>${moment(pull.createdAt)}</td></tr>`,
      )}</tbody>
</table>`
}`;

export interface PullView {
  name: string;
  pull: PullRequestRecord;
  diff: string;
  comments: CommentRecord[];
  reviews: ReviewRecord[];
  token: string;
}

export const pullPage = ({ name, pull, diff, comments, reviews, token }: PullView): Html => html`
<section class="title"><div>
<h1>${pull.title} <span class="empty">#${pull.number}</span></h1>
<p class="facts">${stateOf(pull)} <span><code>${pull.head}</code> into <code>${pull.base}</code></span> ${pull.author} ${moment(pull.createdAt)}</p>
</div>
${pull.state === "open" && html`<div class="row">${pull.isDraft ? button(`/repositories/${name}/pulls/${pull.number}/ready`, "Mark as ready", token) : button(`/repositories/${name}/pulls/${pull.number}/merge`, "Merge", token)}</div>`}
</section>
${pull.body !== "" && html`<div class="message user">${pull.body}</div>`}
<h2>Changes</h2>
${diffView(Buffer.from(diff), { wholeUrl: `/repositories/${name}/pulls/${pull.number}/diff` })}
<h2>Comments</h2>
${reviews.map(
  (
    review,
  ) => html`<div class="message user">${badge(review.verdict)} <strong>${review.author}</strong> ${moment(review.createdAt)}
${review.body}</div>`,
)}
${comments.map(
  (comment) => html`<div class="message user"><strong>${comment.author}</strong> ${moment(comment.createdAt)}${
    comment.path !== undefined && html` <code>${comment.path}:${comment.line}</code>`
  }
${comment.body}</div>`,
)}
<form method="post" action="/repositories/${name}/pulls/${pull.number}/comments" class="card">
${hiddenToken(token)}
<label>Comment<textarea name="body" rows="2" required></textarea></label>
<div class="row"><button>Comment</button></div>
</form>`;

const stateOf = ({ state, isDraft }: PullRequestRecord): Html => badge(state === "open" && isDraft ? "draft" : state);
