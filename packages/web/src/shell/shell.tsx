// The frame of every page: navigation at the side, on narrow screens at the top.
import { Link, Outlet } from "@tanstack/react-router";
import { session } from "../api/session.ts";
import { Icon, type IconName } from "../components/icon.tsx";

/** Pages that the server renders; a plain link leaves the app. */
const serverPages: { href: string; icon: IconName; name: string }[] = [
  { href: "/repositories", icon: "repository", name: "Repositories" },
  { href: "/members", icon: "people", name: "Members" },
  { href: "/keys", icon: "key", name: "Keys" },
  { href: "/accounts", icon: "link", name: "Accounts" },
  { href: "/settings", icon: "settings", name: "Settings" },
  { href: "/docs", icon: "book", name: "Docs" },
];

export const Shell = () => (
  <div className="shell">
    <a className="skip" href="#content">
      Skip to content
    </a>
    <aside className="side">
      <div className="brand">
        <span className="brand-mark" aria-hidden="true" />
        <span className="brand-name">{session.team || "platform"}</span>
      </div>
      <Link className="button button-primary side-new" to="/agents/new">
        <Icon name="plus" /> New agent
      </Link>
      <nav className="nav" aria-label="Main">
        <Link className="nav-item" to="/agents" activeOptions={{ includeSearch: false }}>
          <Icon name="agents" /> Agents
        </Link>
        {serverPages.map(({ href, icon, name }) => (
          <a key={href} className="nav-item" href={href}>
            <Icon name={icon} /> {name}
          </a>
        ))}
      </nav>
      <Visitor />
    </aside>
    <main className="main" id="content" tabIndex={-1}>
      {session.notice !== null && <p className="platform-notice">{session.notice}</p>}
      <Outlet />
    </main>
  </div>
);

/** Logging out is a form of the server: it works whatever the state of this page. */
const Visitor = () => (
  <form className="visitor" method="post" action="/logout">
    <input type="hidden" name="token" value={session.formToken} />
    <a className="visitor-name" href="/sessions" title={`Your sessions (${session.email})`}>
      {session.email}
    </a>
    <button type="submit" className="icon-button" aria-label="Log out" title="Log out">
      <Icon name="exit" />
    </button>
  </form>
);
