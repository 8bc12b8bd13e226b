import type { SimulatorNumber } from '../simulator.types.js';

interface Dialog {
  nonce: string;
  numbers: readonly SimulatorNumber[];
  /** Whether the requesting app is the one that the simulator knows. */
  isKnown: boolean;
  isApp: boolean;
}

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{margin:0 auto;max-width:440px;padding:24px}
h1{font-size:20px;margin:0 0 4px}p{margin:0 0 16px}
label{display:block;font-weight:600;margin:12px 0 4px}
input,select{box-sizing:border-box;font:inherit;padding:8px;width:100%}
.row{display:flex;gap:8px;margin-top:20px}button{font:inherit;padding:8px 16px}
[hidden]{display:none}`;

/** Runs in the dialog's window: tells the opening page the result, like Meta's own dialog. */
const SCRIPT = `const query = new URLSearchParams(location.search);
const origin = query.get('origin');
const form = document.querySelector('form');
const tell = (session, code) => {
  if (!opener) return;
  opener.postMessage(JSON.stringify({ type: 'WA_EMBEDDED_SIGNUP', version: '3', ...session }), origin);
  opener.postMessage(JSON.stringify({ type: 'SIMULATED_LOGIN', code }), origin);
  close();
};
const fresh = document.getElementById('new');
form.number.addEventListener('change', () => { fresh.hidden = form.number.value !== ''; });
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = {
    feature: query.get('feature') ?? '',
    phone_number_id: form.number.value,
    display_phone_number: form.display.value,
    verified_name: form.verified.value,
    outcome: form.outcome.value,
  };
  const answer = await fetch('/dialog/signup', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const result = await answer.json();
  if (answer.ok) tell({ event: result.event, data: result.data }, result.code);
  else document.getElementById('wrong').textContent = result.error.message;
});
document.getElementById('cancel').addEventListener('click', () => {
  tell({ event: 'CANCEL', data: { current_step: 'PHONE_NUMBER_SETUP' } }, null);
});`;

const OUTCOMES: readonly (readonly [value: string, text: string])[] = [
  ['done', 'Everything goes well'],
  ['wrong_pin', 'The number has another PIN (246810)'],
  ['elsewhere', 'The number is registered elsewhere'],
  ['app_not_allowed', 'The app may not use the account'],
  ['code_refused', 'The code is too old'],
  ['no_number', 'Finish without a number'],
];

/** The simulated dialog of embedded signup: the user chooses a number and an outcome. */
export function dialogPage({ nonce, numbers, isKnown, isApp }: Dialog): string {
  const options = numbers.map(
    ({ phoneNumberId, displayPhoneNumber, verifiedName }) =>
      `<option value="${escaped(phoneNumberId)}">${escaped(`${displayPhoneNumber} ${verifiedName}`)}</option>`,
  );
  const outcomes = OUTCOMES.map(([value, text]) => `<option value="${value}">${escaped(text)}</option>`);
  const form = `<form>
<label for="number">Number</label>
<select id="number" name="number"><option value="">A new number</option>${options.join('')}</select>
<div id="new">
<label for="display">Phone number</label><input id="display" name="display" value="+1 650-555-0199" maxlength="30">
<label for="verified">Display name</label><input id="verified" name="verified" value="Lighthouse Coffee" maxlength="100">
</div>
<label for="outcome">What happens</label><select id="outcome" name="outcome">${outcomes.join('')}</select>
<p id="wrong" role="alert"></p>
<div class="row"><button type="submit">Finish</button><button type="button" id="cancel">Cancel</button></div>
</form>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Simulated sign-up</title>
<style nonce="${nonce}">${STYLE}</style></head><body>
<h1>Simulated WhatsApp sign-up</h1>
<p>${isApp ? 'A number of the WhatsApp Business app.' : 'A number for the API.'} This is no dialog of Meta.</p>
${isKnown ? form : '<p role="alert">The app id is none that the simulator knows.</p>'}
${isKnown ? `<script nonce="${nonce}">${SCRIPT}</script>` : ''}
</body></html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
