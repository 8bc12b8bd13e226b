import type { Mender, SignupKind, StepName } from './calls.ts';

/** Every text of the page that the service does not send. */
export const TEXTS = {
  title: (workspace: string) => `Connect WhatsApp to ${workspace}`,
  until: (time: string) => `This link works once, until ${time}.`,
  intro: {
    cloud:
      'You choose or add a phone number in a window of Meta. It takes about five minutes; have the phone at hand that gets the code.',
    app: 'You connect a number that you use in the WhatsApp Business app. It stays there: you go on using it on your phone.',
    manual: 'You paste two ids and an access token from your Meta app. Each is checked at once.',
  } satisfies Record<SignupKind, string>,
  steps: {
    access: 'Access to the account',
    subscribe: 'Messages and reports of the account',
    register: 'Registration of the number',
    connect: 'Connection',
    history: 'Conversations of the app',
    test: 'Test message',
  } satisfies Record<StepName, string>,
  states: { open: 'not done yet', done: 'done', failed: 'failed', running: 'under way' },
  menders: {
    business: 'You can mend this.',
    operator: 'The sender of this link can mend this.',
    time: 'Time mends this.',
  } satisfies Record<Mender, string>,
  platformSays: 'WhatsApp says:',
  openDialog: 'Open the sign-up of WhatsApp',
  openAgain: 'Open the sign-up again',
  otherNumber: 'Choose another number',
  loadingDialog: 'The sign-up is being loaded …',
  goOn: 'Continue',
  retry: 'Try again',
  working: 'One moment …',
  closed: 'The sign-up was closed before its end. Nothing is lost: open it again when you are ready.',
  blocked: 'Your browser did not open the window. Allow windows of this page, then try again.',
  noScript:
    "Meta's script could not be loaded. Allow connect.facebook.net, for example in a blocker of your browser, then load this page again.",
  noAccount: 'The sign-up ended without naming an account. Open it again.',
  fields: {
    access_token: {
      label: 'Access token',
      help: 'Of a system user, so that it does not end. It is stored encrypted.',
    },
    phone_number_id: {
      label: 'Phone number ID',
      help: 'Digits, below the phone number. It is not the number itself.',
    },
    waba_id: { label: 'WhatsApp Business Account ID', help: 'Digits, beside the phone number ID.' },
  },
  where: 'Where you find them: Meta for Developers, your app, WhatsApp, API Setup.',
  whereAlt:
    'The page API Setup of a Meta app: the access token stands at the top, the phone number ID and the WhatsApp Business Account ID below it.',
  check: 'Check and continue',
  pin: 'PIN of the number',
  pinHelp: 'Six digits: the PIN of two-step verification, as you set it in WhatsApp.',
  connected: 'Your number is connected',
  connectedTo: (number: string, workspace: string) => `${number} now belongs to ${workspace}.`,
  history: 'Import the conversations of the last 180 days from the app. WhatsApp hands them over within minutes.',
  importHistory: 'Import conversations',
  historyDone: 'The conversations are on their way.',
  test: 'Send the sample message “hello_world” to a phone of yours.',
  testTo: 'Phone number with its country code',
  sendTest: 'Send a test message',
  testDone: 'The message is on its way.',
  back: (host: string) => `Back to ${host}`,
  later: (host: string) => `Do this later, back to ${host}`,
  closeWindow: 'You can close this window.',
  ended: 'This link does not work any more',
  unknown: 'This link does not work',
  away: 'The service does not answer. Check your connection, then try again.',
  tooFast: (seconds: number) => `Too many tries. Wait ${seconds} seconds, then try again.`,
};
