// Output of a command with its colours. Long output shows its end, and everything on request.
import { memo, useEffect, useRef, useState } from "react";
import { readAnsi } from "../text/ansi.ts";
import { renderPiece } from "./colored-text.tsx";
import { Button } from "./controls.tsx";

const shownLines = 40;

export const Output = memo(({ text }: { text: string }) => {
  const [isWhole, setWhole] = useState(false);
  const end = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the text.
  useEffect(() => {
    if (end.current && !isWhole) end.current.scrollTop = end.current.scrollHeight;
  }, [text, isWhole]);
  const lines = text.replace(/^\n+|\n+$/g, "").split("\n");
  const hidden = isWhole ? 0 : Math.max(0, lines.length - shownLines);
  const shown = hidden > 0 ? lines.slice(hidden).join("\n") : lines.join("\n");
  return (
    <div className="output">
      {hidden > 0 && (
        <Button look="quiet" onClick={() => setWhole(true)}>
          Show {hidden} earlier lines
        </Button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in. */}
      <pre ref={end} tabIndex={0}>
        {readAnsi(shown).map(renderPiece)}
      </pre>
    </div>
  );
});
