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

const toEnd = () => window.scrollTo({ top: document.documentElement.scrollHeight });

export function useTail(): Tail {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const lastTop = useRef(0);
  useEffect(() => {
    const onScroll = () => {
      const { scrollTop } = document.documentElement;
      const isNear = distance() < nearPixels;
      // Only a move upwards is the reader's: content that grows leaves the position where it is.
      if (isNear) follows.current = true;
      else if (scrollTop < lastTop.current) follows.current = false;
      lastTop.current = scrollTop;
      setAtEnd(isNear || follows.current);
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => window.removeEventListener("scroll", onScroll);
  }, []);
  const end = useCallback((element: HTMLElement | null) => {
    const content = element?.parentElement;
    if (!content) return;
    const observer = new ResizeObserver(() => {
      if (follows.current) toEnd();
    });
    observer.observe(content);
    return () => observer.disconnect();
  }, []);
  const jump = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    toEnd();
  }, []);
  return { end, isAtEnd, jump };
}
