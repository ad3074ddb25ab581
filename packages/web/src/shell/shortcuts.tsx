// All keys, on request.
import { IconButton, Keys } from "../components/controls.tsx";
import { Dialog } from "../components/dialog.tsx";

const groups: { title: string; keys: [string, string][] }[] = [
  {
    title: "Everywhere",
    keys: [
      ["Ctrl K", "Search pages, agents and actions"],
      ["c", "New agent"],
      ["g i", "Inbox"],
      ["g a", "Agents"],
      ["g t", "Automations"],
      ["g e", "Environments"],
      ["g u", "Usage"],
      ["?", "These keys"],
    ],
  },
  {
    title: "Lists",
    keys: [
      ["j", "Next"],
      ["k", "Previous"],
      ["Enter", "Open"],
      ["/", "Search"],
    ],
  },
  {
    title: "Inbox",
    keys: [
      ["u", "Read or unread"],
      ["e", "Done"],
    ],
  },
  {
    title: "Messages",
    keys: [
      ["Enter", "Send"],
      ["Shift Enter", "New line"],
      ["Ctrl Enter", "Send it into the run, or start the new agent"],
    ],
  },
];

export default function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keyboard shortcuts" className="shortcuts" onClose={onClose}>
      <header className="dialog-header">
        <h2>Keyboard shortcuts</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      <div className="shortcut-groups">
        {groups.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, meaning]) => (
                <div key={key} className="shortcut">
                  <dt>
                    <Keys>{key}</Keys>
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
