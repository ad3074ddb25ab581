// What a browser reads to install the web app: its manifest and icon. Both are the same for everyone, so they need no login.
import type { Hono } from "hono";
import type { Env } from "../foundation/index.ts";

export function addInstallation(app: Hono<Env>): void {
  const asset = (type: string) => ({
    "content-type": type,
    "cache-control": "max-age=300",
    "x-content-type-options": "nosniff",
  });
  const body = JSON.stringify(manifest);
  app.get("/manifest.webmanifest", (context) => context.body(body, 200, asset("application/manifest+json")));
  app.get("/assets/icon.svg", (context) => context.body(icon, 200, asset("image/svg+xml")));
}

const drawing = { src: "/assets/icon.svg", sizes: "any", type: "image/svg+xml" } as const;

const manifest = {
  id: "/agents",
  name: "Agent platform",
  short_name: "Agents",
  start_url: "/agents",
  scope: "/",
  display: "standalone",
  background_color: "#0e0f12",
  theme_color: "#0e0f12",
  icons: [
    { ...drawing, purpose: "any" },
    { ...drawing, purpose: "maskable" },
  ],
  shortcuts: [
    { name: "New agent", url: "/agents/new" },
    { name: "Inbox", url: "/inbox" },
  ],
  // GET: what is shared only fills in the form, and a person starts the agent.
  share_target: {
    action: "/agents/new",
    method: "GET",
    enctype: "application/x-www-form-urlencoded",
    params: { title: "title", text: "text", url: "url" },
  },
};

/** Covers the whole square: phones cut it to their own shape, of which the middle four fifths always remain. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512">
<linearGradient id="g" x2="1" y2="1"><stop stop-color="#4a4fd0"/><stop offset="1" stop-color="#c05fd8"/></linearGradient>
<path fill="url(#g)" d="M0 0h512v512H0z"/>
<path fill="none" stroke="#fff" stroke-width="44" stroke-linecap="round" stroke-linejoin="round" d="m150 170 90 86-90 86m130 0h90"/>
</svg>
`;
