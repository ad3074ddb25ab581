// State that survives a reload of the page and is shared by tabs.
import { useCallback, useEffect, useRef, useState } from "react";

/** Given the value or how it follows from the one before, which another tab may have changed. */
export type Store<Value> = (next: Value | ((before: Value) => Value)) => void;

export function useStored<Value>(name: string, initial: Value): [Value, Store<Value>] {
  const [value, setValue] = useState<Value>(() => read(name) ?? initial);
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    const onChange = (event: StorageEvent) => {
      if (event.key === name) setValue(read<Value>(name) ?? initial);
    };
    window.addEventListener("storage", onChange);
    return () => window.removeEventListener("storage", onChange);
  }, [name, initial]);
  const store = useCallback(
    (change: Value | ((before: Value) => Value)) => {
      const next = change instanceof Function ? change(latest.current) : change;
      latest.current = next;
      setValue(next);
      write(name, next);
    },
    [name],
  );
  return [value, store];
}

function read<Value>(name: string): Value | null {
  try {
    const stored = localStorage.getItem(name);
    return stored === null ? null : (JSON.parse(stored) as Value);
  } catch {
    return null; // Storage may be disabled, or hold what another version wrote.
  }
}

function write(name: string, value: unknown): void {
  try {
    if (value === null || value === "") localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
    // The browser notifies other tabs only; other parts of this page use the same state.
    window.dispatchEvent(new StorageEvent("storage", { key: name }));
  } catch {
    // Full or disabled: the state lasts as long as the page.
  }
}
