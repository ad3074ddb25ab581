// Keeps the end of a growing page in view, unless the reader has scrolled away from it.
import { type RefCallback, useCallback, useEffect, useRef, useState } from "react";

export interface Tail {
  /** The element at the end of the content. */
  end: RefCallback<HTMLElement>;
  isAtEnd: boolean;
  jump(): void;
}

const nearPixels = 120;

const distance = (): number => {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  return scrollHeight - clientHeight - scrollTop;
};

/** Whether the browser keeps what is in view where it is while content changes above it; at the end, the end is kept. */
function anchor(isOn: boolean): void {
  document.documentElement.style.overflowAnchor = isOn ? "" : "none";
}

export function useTail(): Tail {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const last = useRef({ scrollTop: 0, scrollHeight: 0 });
  const toEnd = useCallback(() => {
    anchor(false);
    window.scrollTo({ top: document.documentElement.scrollHeight });
    // The event comes later, when there may be more content.
    const { scrollTop, scrollHeight } = document.documentElement;
    last.current = { scrollTop, scrollHeight };
  }, []);
  useEffect(() => {
    const onScroll = () => {
      const { scrollTop, scrollHeight } = document.documentElement;
      const isNear = distance() < nearPixels;
      // Only a move upwards is the reader's: content that grows leaves the position where it is, content that shrinks moves it.
      if (isNear) follows.current = true;
      else if (scrollTop < last.current.scrollTop && scrollHeight >= last.current.scrollHeight) follows.current = false;
      anchor(!follows.current);
      last.current = { scrollTop, scrollHeight };
      setAtEnd(isNear || follows.current);
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      window.removeEventListener("scroll", onScroll);
      anchor(true);
    };
  }, []);
  const end = useCallback(
    (element: HTMLElement | null) => {
      const content = element?.parentElement;
      if (!content) return;
      const observer = new ResizeObserver(() => {
        if (follows.current) toEnd();
      });
      observer.observe(content);
      return () => observer.disconnect();
    },
    [toEnd],
  );
  const jump = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    toEnd();
  }, [toEnd]);
  return { end, isAtEnd, jump };
}
