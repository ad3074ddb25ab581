// Keys of a list: j and k move between rows, Enter opens one (it is a link), / goes to the search.
import { type RefObject, useEffect } from "react";

export function useListKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "/") focusSearch(event);
      if (event.key === "j" || event.key === "k") moveFocus(list.current, event.key === "j" ? 1 : -1);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [list]);
}

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function focusSearch(event: KeyboardEvent): void {
  event.preventDefault();
  document.querySelector<HTMLInputElement>("[data-search]")?.focus();
}

function moveFocus(list: HTMLElement | null, by: 1 | -1): void {
  const rows = [...(list?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
  const at = rows.findIndex((row) => row.matches(":focus"));
  const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[next]?.focus();
}
