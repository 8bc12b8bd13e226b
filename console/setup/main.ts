import './style.css';
import where from './where.svg';
import { Refused, readState, type State, type Step, type StepName, takeStep } from './calls.ts';
import { openDialog, prepareDialog, type SignupEnd } from './dialog.ts';
import { button, field, form, make } from './elements.ts';
import { TEXTS } from './texts.ts';

/** The three values of a link that is filled in by hand, in the order of the page. */
const PASTED = ['access_token', 'phone_number_id', 'waba_id'] as const;
const OPTIONAL: readonly StepName[] = ['history', 'test'];
/** Problems of a later step that only another run of the dialog mends. */
const DIALOG_MENDS: ReadonlySet<string> = new Set([
  'number_elsewhere',
  'access_ended',
  'app_not_allowed',
  'number_taken',
  'account_unknown',
  'number_unknown',
]);

const page = document.getElementById('page') as HTMLElement;

let state: State;
/** The step that is under way. */
let running: StepName | null = null;
/** What the page says beside the steps, such as that the dialog was closed. */
let note: string | null = null;
/** Of fields that the service refused. */
let wrong: Readonly<Record<string, string>> = {};
/** What was typed, kept while the page is drawn anew. */
let typed: Record<string, string> = {};
let isDialogReady = false;

function draw(): void {
  document.title = TEXTS.title(state.workspace);
  const focused = document.activeElement?.id;
  page.replaceChildren(...(state.connection === null ? connecting() : connected()));
  if (focused) document.getElementById(focused)?.focus();
}

function connecting(): (Node | string)[] {
  const until = new Date(state.expires_at).toLocaleString(undefined, { dateStyle: 'long', timeStyle: 'short' });
  return [
    make('h1', {}, TEXTS.title(state.workspace)),
    make('p', {}, TEXTS.intro[state.signup]),
    make('p', { class: 'soft' }, TEXTS.until(until)),
    make('ol', {}, ...required().map(item)),
    ...(state.return_url === null ? [] : [leave(state.return_url)]),
  ];
}

const required = (): Step[] => state.steps.filter(({ name }) => !OPTIONAL.includes(name));
/** The first that is not done: the only one with something to do. */
const current = (): Step | undefined => required().find(({ state: how }) => how !== 'done');

function item(step: Step, index: number): HTMLElement {
  const how = running === step.name ? 'running' : step.state;
  const marks = { open: String(index + 1), running: '…', done: '✓', failed: '!' };
  const isCurrent = step === current();
  return make(
    'li',
    { class: how, 'aria-current': isCurrent ? 'step' : null },
    make('span', { class: 'mark', 'aria-hidden': 'true' }, marks[how]),
    make('h2', {}, TEXTS.steps[step.name], make('span', { class: 'hidden' }, `, ${TEXTS.states[how]}`)),
    isCurrent && make('div', { class: 'more' }, running === null && problemOf(step), ...actions(step)),
  );
}

function problemOf({ problem }: Step): HTMLElement | null {
  if (problem === null) return null;
  const { message, mended_by: mender, platform_message: platform } = problem;
  return make(
    'div',
    { class: 'problem', role: 'alert' },
    make('p', {}, message),
    make('p', {}, make('strong', {}, TEXTS.menders[mender])),
    platform && make('p', { class: 'soft' }, `${TEXTS.platformSays} ${platform}`),
  );
}

function actions(step: Step): (Node | null)[] {
  if (running !== null) return [make('p', { class: 'soft', role: 'status' }, TEXTS.working)];
  const said = note === null ? null : make('p', { class: 'note', role: 'status' }, note);
  if (step.name === 'access') return [said, state.signup === 'manual' ? pasteForm(step) : dialogButton(step)];
  const code = step.problem?.code ?? '';
  if (code === 'pin_wrong') return [said, pinForm(step), again()];
  const needsDialog = DIALOG_MENDS.has(code);
  const retry = step.problem === null ? TEXTS.goOn : TEXTS.retry;
  return [
    said,
    make(
      'div',
      { class: 'row' },
      button(retry, () => void goOn(), { main: !needsDialog }),
      again(needsDialog),
    ),
  ];
}

function dialogButton({ problem }: Step): HTMLElement {
  const text = !isDialogReady ? TEXTS.loadingDialog : problem === null ? TEXTS.openDialog : TEXTS.openAgain;
  return make(
    'div',
    { class: 'row' },
    button(text, () => void signUp(), { main: true, disabled: !isDialogReady }),
  );
}

/** Another account or number, where a later step failed. */
function again(isMain = false): HTMLElement {
  const manual = (): void => {
    state = { ...state, steps: state.steps.map((step) => ({ ...step, state: 'open', problem: null })) };
    draw();
  };
  return button(TEXTS.otherNumber, state.signup === 'manual' ? manual : () => void signUp(), {
    main: isMain,
    disabled: state.signup !== 'manual' && !isDialogReady,
  });
}

function pasteForm({ problem }: Step): HTMLElement {
  return form(
    TEXTS.check,
    running !== null,
    (values) => void takeAll('access', values),
    make('p', {}, TEXTS.where),
    make('img', { src: where, alt: TEXTS.whereAlt, width: '480', height: '208' }),
    ...PASTED.map((name) => {
      const { label, help } = TEXTS.fields[name];
      const isWrong = wrong[name] ?? (problem?.field === name ? problem.message : null);
      // A token is a secret: who looks over the shoulder need not see it.
      const type = name === 'access_token' ? 'password' : 'text';
      const inputmode = name === 'access_token' ? 'text' : 'numeric';
      return field({
        name,
        label,
        help,
        type,
        value: typed[name] ?? '',
        wrong: isWrong,
        inputmode,
      });
    }),
  );
}

function pinForm({ problem }: Step): HTMLElement {
  return form(
    TEXTS.retry,
    running !== null,
    ({ pin = '' }) => void takeAll('register', pin === '' ? {} : { pin }),
    field({
      name: 'pin',
      label: TEXTS.pin,
      help: TEXTS.pinHelp,
      inputmode: 'numeric',
      value: '',
      wrong: wrong.pin ?? (problem?.field === 'pin' ? problem.message : null),
    }),
  );
}

function connected(): (Node | string)[] {
  const { phone_number: digits, verified_name: name } = state.connection ?? { phone_number: '', verified_name: null };
  const number = `+${digits}${name === null ? '' : ` (${name})`}`;
  return [
    make('h1', { tabindex: '-1' }, TEXTS.connected),
    make('p', {}, TEXTS.connectedTo(number, state.workspace)),
    ...(state.continuation === null ? [] : later()),
    state.return_url === null
      ? make('p', { class: 'soft' }, TEXTS.closeWindow)
      : make('p', { class: 'leave' }, link(state.return_url, TEXTS.back, 'button main')),
  ];
}

/** What the page may still do that connected the number. */
function later(): HTMLElement[] {
  return state.steps
    .filter(({ name }) => OPTIONAL.includes(name))
    .map((step) => {
      const isHistory = step.name === 'history';
      const isRunning = running === step.name;
      const children =
        step.state === 'done'
          ? [make('p', { class: 'note', role: 'status' }, isHistory ? TEXTS.historyDone : TEXTS.testDone)]
          : isHistory
            ? [
                make('p', {}, TEXTS.history),
                button(TEXTS.importHistory, () => void takeLater('history', {}), { disabled: isRunning }),
              ]
            : [testForm(isRunning)];
      return make('section', {}, make('h2', {}, TEXTS.steps[step.name]), problemOf(step), ...children);
    });
}

function testForm(isRunning: boolean): HTMLElement {
  return form(
    TEXTS.sendTest,
    isRunning,
    ({ to = '' }) => void takeLater('test', { to: to.replaceAll(/[\s()-]/g, '') }),
    field({
      name: 'to',
      label: TEXTS.testTo,
      help: TEXTS.test,
      type: 'tel',
      value: typed.to ?? '',
      wrong: wrong.to ?? null,
    }),
  );
}

const link = (url: string, text: (host: string) => string, kind = ''): HTMLElement =>
  make('a', { href: url, class: kind, rel: 'noreferrer' }, text(new URL(url).host));
const leave = (url: string): HTMLElement => make('p', { class: 'leave soft' }, link(url, TEXTS.later));

/** Runs the dialog, and then all that follows from it. */
async function signUp(): Promise<void> {
  if (state.dialog === null) return;
  note = null;
  const opened = openDialog(state.dialog, state.signup);
  draw();
  const end: SignupEnd = await opened;
  if (typeof end !== 'string') return takeAll('access', { ...end });
  note = { closed: TEXTS.closed, blocked: TEXTS.blocked, incomplete: TEXTS.noAccount }[end];
  draw();
}

/** A step, and where it went well all that follow, until one fails. */
async function takeAll(first: StepName, body: object): Promise<void> {
  typed = { ...typed, ...body };
  if (await take(first, body)) await goOn();
}

async function goOn(): Promise<void> {
  for (let step = current(); step !== undefined; step = current()) {
    if (!(await take(step.name, {}))) return;
  }
  page.querySelector('h1')?.focus();
}

async function takeLater(name: StepName, body: object): Promise<void> {
  const { continuation } = state;
  typed = { ...typed, ...body };
  await take(name, { ...body, continuation });
  state = { ...state, continuation };
  draw();
}

/** @returns whether the step is done */
async function take(name: StepName, body: object): Promise<boolean> {
  [running, note, wrong] = [name, null, {}];
  draw();
  try {
    state = await takeStep(name, body);
    return state.steps.find((step) => step.name === name)?.state === 'done';
  } catch (error) {
    refuse(error as Refused);
    return false;
  } finally {
    running = null;
    if (!isOver) draw();
  }
}

let isOver = false;

function refuse(error: Refused): void {
  if (error.code === 'SETUP_LINK_ENDED' || error.code === 'SETUP_LINK_UNKNOWN') {
    end(error);
    return;
  }
  wrong = Object.fromEntries(error.details.map(({ field: name, message }) => [name, message]));
  note = error.details.length > 0 ? null : wordsOf(error);
}

function wordsOf({ code, message, retryAfterSeconds }: Refused): string {
  if (code === 'AWAY') return TEXTS.away;
  return retryAfterSeconds === null ? message : TEXTS.tooFast(retryAfterSeconds);
}

/** The link opens nothing, or nothing any more. */
function end(error: Refused): void {
  isOver = true;
  const title = error.code === 'SETUP_LINK_ENDED' ? TEXTS.ended : TEXTS.unknown;
  document.title = title;
  const mayRepeat = error.code !== 'SETUP_LINK_ENDED' && error.code !== 'SETUP_LINK_UNKNOWN';
  page.replaceChildren(
    make('h1', {}, title),
    make('p', { role: 'alert' }, wordsOf(error)),
    ...(mayRepeat ? [button(TEXTS.retry, () => void start(), { main: true })] : []),
  );
}

async function start(): Promise<void> {
  isOver = false;
  try {
    state = await readState();
  } catch (error) {
    end(error as Refused);
    return;
  }
  isDialogReady = typeof state.dialog?.simulator_url === 'string';
  draw();
  if (state.dialog === null || isDialogReady) return;
  isDialogReady = await prepareDialog(state.dialog, state.locale);
  if (!isDialogReady) note = TEXTS.noScript;
  draw();
}

await start();
