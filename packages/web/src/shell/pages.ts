// The pages of the app, as the command palette lists them, and the navigation without those that others lead to.
import type { IconName } from "../components/icon.tsx";

export interface PageEntry {
  href: string;
  icon: IconName;
  name: string;
  /** Rendered by the server: a plain link leaves the app. */
  isServerPage?: true;
  isForAdmins?: true;
  isOnlyInPalette?: true;
}

export const pages: PageEntry[] = [
  { href: "/inbox", icon: "inbox", name: "Inbox" },
  { href: "/agents", icon: "agents", name: "Agents" },
  { href: "/automations", icon: "clock", name: "Automations" },
  { href: "/repositories", icon: "repository", name: "Repositories" },
  { href: "/environments", icon: "tool", name: "Environments" },
  { href: "/workers", icon: "terminal", name: "Workers" },
  { href: "/secrets", icon: "lock", name: "Secrets" },
  { href: "/usage", icon: "chart", name: "Usage" },
  { href: "/members", icon: "people", name: "Members" },
  { href: "/keys", icon: "key", name: "Keys" },
  { href: "/accounts", icon: "link", name: "Accounts" },
  { href: "/audit", icon: "list", name: "Audit", isForAdmins: true },
  { href: "/settings", icon: "settings", name: "Settings" },
  { href: "/api-reference", icon: "code", name: "API" },
  { href: "/docs", icon: "book", name: "Docs", isServerPage: true },
  { href: "/service-accounts", icon: "key", name: "Service accounts", isForAdmins: true, isOnlyInPalette: true },
  { href: "/sessions", icon: "people", name: "Your sessions", isOnlyInPalette: true },
];
