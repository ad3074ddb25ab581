// Parts that several pages have.
import { type Html, html } from "./html.ts";
import { hiddenToken } from "./layout.ts";

export const button = (action: string, text: string, token: string): Html =>
  html`<form method="post" action="${action}">${hiddenToken(token)}<button class="quiet">${text}</button></form>`;

export const badge = (status: string): Html =>
  html`<span class="badge ${status.toLowerCase()}">${status.toLowerCase()}</span>`;
