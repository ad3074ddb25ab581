// Keys that work on every page.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { isTyping } from "../agents/list-keys.ts";

export type Overlay = "palette" | "shortcuts";

const goTo: Record<string, string> = { i: "/inbox", a: "/agents", u: "/usage", e: "/environments", t: "/automations" };

/** How long the second key of two may take. */
const sequenceMs = 1_500;

export function useGlobalKeys(open: (overlay: Overlay) => void): void {
  const navigate = useNavigate();
  const startedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key } = event;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && key.toLowerCase() === "k") {
        event.preventDefault();
        return open("palette");
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      const isSecond = event.timeStamp - startedAt.current < sequenceMs;
      startedAt.current = key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const target = isSecond ? goTo[key] : key === "c" ? "/agents/new" : undefined;
      if (target === undefined) return key === "?" ? open("shortcuts") : undefined;
      event.preventDefault();
      void navigate({ to: target });
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate, open]);
}
