// The command palette: one field that finds pages, agents and actions.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { agentsQuery } from "../api/queries.ts";
import { session } from "../api/session.ts";
import { Dialog } from "../components/dialog.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { repositoryName } from "../text/format.ts";
import { pages } from "./pages.ts";

interface Command {
  id: string;
  icon: IconName;
  name: string;
  about: string;
  run(): void;
}

const maxShown = 12;

interface PaletteProps {
  onClose(): void;
  onShortcuts(): void;
}

export default function Palette({ onClose, onShortcuts }: PaletteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useCommands(onShortcuts).filter((command) => isMatch(command, text));
  const shown = found.slice(0, maxShown);
  const selected = shown[Math.min(at, shown.length - 1)];
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && shown.length > 0) setAt((Math.min(at, shown.length - 1) + by + shown.length) % shown.length);
    if (event.key === "Enter") run(selected);
    if (by !== 0 || event.key === "Enter") event.preventDefault();
  };
  return (
    <Dialog label="Search" className="palette" onClose={onClose}>
      <input
        className="palette-input"
        role="combobox"
        aria-label="Search pages, agents and actions"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={selected && `palette-${selected.id}`}
        placeholder="Search pages, agents and actions"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Results" className="palette-list">
        {shown.map((command) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the focus and takes the keys.
          <div
            key={command.id}
            id={`palette-${command.id}`}
            role="option"
            aria-selected={command === selected}
            className="palette-option"
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span className="palette-name">{command.name}</span>
            <span className="palette-about">{command.about}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p className="palette-none">Nothing matches.</p>}
    </Dialog>
  );
}

const isMatch = ({ name, about }: Command, text: string): boolean => {
  const searched = `${name} ${about}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
};

function useCommands(onShortcuts: () => void): Command[] {
  const navigate = useNavigate();
  const { data } = useInfiniteQuery(agentsQuery({ archived: false, sdk: false }));
  const actions: Command[] = [
    { id: "new", icon: "plus", name: "New agent", about: "Action", run: () => void navigate({ to: "/agents/new" }) },
    { id: "keys", icon: "book", name: "Keyboard shortcuts", about: "Action", run: onShortcuts },
  ];
  const toPages = pages
    .filter(({ isForAdmins }) => !isForAdmins || session.isAdmin)
    .map(({ href, icon, name, isServerPage }) => ({
      ...{ id: href.slice(1), icon, name, about: "Page" },
      run: () => (isServerPage ? location.assign(href) : void navigate({ to: href })),
    }));
  const agents = (data?.pages.flatMap(({ items }) => items) ?? []).map(({ id, name, repos = [] }) => ({
    ...{ id, icon: "agents" as const, name: name ?? id },
    about: ["Agent", ...repos.map(({ url }) => repositoryName(url))].join(" · "),
    run: () => void navigate({ to: "/agents/$id", params: { id } }),
  }));
  return [...actions, ...toPages, ...agents];
}
