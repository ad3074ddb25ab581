// The frame of every page: navigation at the side, on narrow screens behind a button at the top.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { useAgentChanges } from "../api/agent-changes.ts";
import { session } from "../api/session.ts";
import { inboxQuery } from "../api/use-inbox.ts";
import { IconButton, Keys } from "../components/controls.tsx";
import { Icon } from "../components/icon.tsx";
import { type Overlay, useGlobalKeys } from "./global-keys.ts";
import { type PageEntry, pages } from "./pages.ts";

const Palette = lazy(() => import("./palette.tsx"));
const Shortcuts = lazy(() => import("./shortcuts.tsx"));

export const Shell = () => {
  const [overlay, setOverlay] = useState<Overlay | null>(null);
  useGlobalKeys(setOverlay);
  useAgentChanges();
  const close = () => setOverlay(null);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <Side onSearch={() => setOverlay("palette")} />
      <main className="main" id="content" tabIndex={-1}>
        {session.notice !== null && <p className="platform-notice">{session.notice}</p>}
        <Outlet />
      </main>
      <Suspense>
        {overlay === "palette" && <Palette onClose={close} onShortcuts={() => setOverlay("shortcuts")} />}
        {overlay === "shortcuts" && <Shortcuts onClose={close} />}
      </Suspense>
    </div>
  );
};

function Side({ onSearch }: { onSearch: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu.
  useEffect(() => setOpen(false), [pathname]);
  return (
    <aside className="side">
      <div className="brand">
        <span className="brand-mark" aria-hidden="true" />
        <span className="brand-name">{session.team || "platform"}</span>
      </div>
      <button type="button" className="side-menu icon-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="menu" />
        <span className="sr-only">Menu</span>
        <Unread />
      </button>
      <Link className="button button-primary side-new" to="/agents/new">
        <Icon name="plus" /> New agent
      </Link>
      <button type="button" className="side-search" onClick={onSearch}>
        <Icon name="search" /> <span className="side-search-word">Search</span> <Keys>Ctrl K</Keys>
      </button>
      <nav className={isOpen ? "nav is-open" : "nav"} aria-label="Main">
        {pages
          .filter(({ isForAdmins, isOnlyInPalette }) => !isOnlyInPalette && (!isForAdmins || session.isAdmin))
          .map((page) => (
            <NavItem key={page.href} page={page} />
          ))}
      </nav>
      <Visitor />
    </aside>
  );
}

const NavItem = ({ page: { href, icon, name, isServerPage } }: { page: PageEntry }) =>
  isServerPage ? (
    <a className="nav-item" href={href}>
      <Icon name={icon} /> {name}
    </a>
  ) : (
    <Link className="nav-item" to={href} activeOptions={{ includeSearch: false }}>
      <Icon name={icon} /> {name} {href === "/inbox" && <Unread />}
    </Link>
  );

const Unread = () => {
  const { data } = useQuery(inboxQuery);
  return (
    data !== undefined &&
    data.unread > 0 && (
      <span className="nav-count">
        {data.unread} <span className="sr-only">unread</span>
      </span>
    )
  );
};

/** Logging out is a form of the server: it works whatever the state of this page. */
const Visitor = () => (
  <form className="visitor" method="post" action="/logout">
    <input type="hidden" name="token" value={session.formToken} />
    <Link className="visitor-name" to="/sessions" title={`Your sessions (${session.email})`}>
      {session.email}
    </Link>
    <IconButton type="submit" icon="exit" label="Log out" />
  </form>
);
