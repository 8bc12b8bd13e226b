import { Button } from './controls.tsx';
import { Dialog } from './dialog.tsx';

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['/'], 'search the messages, from any page'],
  [['j'], 'the next message of the list'],
  [['k'], 'the message before it'],
  [['Esc'], 'close the message, a menu or a window'],
  [['Enter'], 'send an answer in a chat'],
  [['Shift', 'Enter'], 'a new line in an answer'],
  [['Tab'], 'at first: skip to the page'],
  [['?'], 'these keys'],
];

/** What the keys do while no field has the focus. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl className="facts keys">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <Button primary label="Close" onClick={onClose} />
      </div>
    </Dialog>
  );
}
