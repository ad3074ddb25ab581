// A window above the page. The browser keeps the focus inside, closes it with Escape, and gives the focus back.
import { type ReactNode, useEffect, useRef } from "react";

export interface DialogProps {
  label: string;
  className?: string;
  onClose(): void;
  children: ReactNode;
}

export function Dialog({ label, className = "", onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = element;
    if (current && !current.open) current.showModal();
    return () => current?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it; the click is one beside the window.
    <dialog
      ref={element}
      className={`dialog ${className}`}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      {children}
    </dialog>
  );
}
