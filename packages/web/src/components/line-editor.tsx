// A comment on a line of a diff, as it is written.
import { useState } from "react";
import { Button } from "./controls.tsx";

export interface LineEditorProps {
  line: number;
  isBusy?: boolean;
  onSave(text: string): void;
  onCancel(): void;
}

export function LineEditor({ line, isBusy = false, onSave, onCancel }: LineEditorProps) {
  const [text, setText] = useState("");
  const save = () => text.trim() !== "" && onSave(text.trim());
  return (
    <div className="line-editor">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: a person has just asked for it.
        autoFocus
        className="input"
        rows={3}
        aria-label={`Comment on line ${line}`}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        }}
      />
      <div className="page-actions">
        <Button look="primary" isBusy={isBusy} disabled={text.trim() === ""} onClick={save}>
          Add comment
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
