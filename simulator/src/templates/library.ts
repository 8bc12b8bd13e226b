import { invalidParam } from '../graph-error.js';
import { type Call, listOf, matching, pageOf } from '../http/call.js';
import type { Param } from '../http/param.js';
import type { TemplateComponent } from './template-store.js';
import { variablesOfText } from './component-checks.js';

/** A text that WhatsApp has already reviewed: a template based on it needs no text of its own. */
interface LibraryTemplate {
  name: string;
  topic: string;
  usecase: string;
  industry: string[];
  body: string;
  body_params: string[];
  body_param_types: string[];
  buttons: { type: 'URL' | 'PHONE_NUMBER'; text: string; url?: string; phone_number?: string }[];
}

/** Some of the library's kinds, in our own words. */
const LIBRARY: readonly LibraryTemplate[] = [
  {
    name: 'delivery_update_1',
    topic: 'ORDER_MANAGEMENT',
    usecase: 'DELIVERY_UPDATE',
    industry: ['E_COMMERCE'],
    body: 'Hi {{1}}, parcel {{2}} is on its way to you. It should be there on {{3}} or earlier.',
    body_params: ['Jim', 'CS1234', 'May 4'],
    body_param_types: ['TEXT', 'TEXT', 'TEXT'],
    buttons: [{ type: 'URL', text: 'Track parcel', url: 'https://www.example.com' }],
  },
  {
    name: 'payment_due_reminder_1',
    topic: 'PAYMENTS',
    usecase: 'PAYMENT_DUE_REMINDER',
    industry: ['FINANCIAL_SERVICES'],
    body: 'Hi {{1}}, a payment of {{2}} is due on {{3}}. Please see to it in time.',
    body_params: ['Jim', '$12.34', 'May 4'],
    body_param_types: ['TEXT', 'AMOUNT', 'TEXT'],
    buttons: [{ type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+16505550134' }],
  },
  {
    name: 'feedback_survey_1',
    topic: 'CUSTOMER_FEEDBACK',
    usecase: 'FEEDBACK_SURVEY',
    industry: ['E_COMMERCE', 'FINANCIAL_SERVICES'],
    body: 'Hi {{1}}, thank you for your visit on {{2}}. A few words about it would help us.',
    body_params: ['Jim', 'May 4'],
    body_param_types: ['TEXT', 'TEXT'],
    buttons: [{ type: 'URL', text: 'Give feedback', url: 'https://www.example.com' }],
  },
];
const LANGUAGE = 'en_US';
const CATEGORY = 'UTILITY';

/** Query parameters that narrow the list. */
const FILTERS: Readonly<Record<string, (template: LibraryTemplate, value: string) => boolean>> = {
  name: ({ name }, value) => holdsOneOf(name, value),
  search: ({ name, body }, value) => `${name} ${body}`.toUpperCase().includes(value.toUpperCase()),
  topic: ({ topic }, value) => holdsOneOf(topic, value),
  usecase: ({ usecase }, value) => holdsOneOf(usecase, value),
  industry: ({ industry }, value) => holdsOneOf(industry.join(' '), value),
  language: (_, value) => holdsOneOf(LANGUAGE, value),
  category: (_, value) => holdsOneOf(CATEGORY, value),
};

function holdsOneOf(text: string, value: string): boolean {
  return listOf(value).some((part) => text.toUpperCase().includes(part));
}

/** The library, in the form of `GET /message_template_library`. */
export function listLibrary(call: Call): object {
  const idOf = (template: LibraryTemplate) => String(7_138_055_039_625_658 + LIBRARY.indexOf(template));
  const show = (template: LibraryTemplate) => ({
    ...template,
    language: LANGUAGE,
    category: CATEGORY,
    id: idOf(template),
  });
  return pageOf(call, matching(call, LIBRARY, FILTERS), idOf, show);
}

/**
 * The components of a template based on the library, with the caller's addresses and numbers in its buttons.
 *
 * @throws GraphError 100
 */
export function componentsFromLibrary(param: Param): TemplateComponent[] {
  const found = LIBRARY.find(({ name }) => name === param.get('library_template_name').value);
  if (found === undefined) throw invalidParam('Param library_template_name is no template of the library.');
  const given = param.get('library_template_button_inputs').isGiven
    ? param.objects('library_template_button_inputs', 0, 10)
    : [];
  if (given.length !== found.buttons.length) {
    throw invalidParam(`Param library_template_button_inputs must have ${found.buttons.length} elements.`);
  }
  const buttons = found.buttons.map((button, i) => {
    const input = given[i] as Param;
    input.oneOf('type', [button.type]);
    if (button.type === 'PHONE_NUMBER') return { ...button, phone_number: input.text('phone_number', 20) };
    const url = input.object('url');
    const example = url.optionalText('url_suffix_example', 2000);
    const base = url.text('base_url', 2000);
    return { ...button, url: base, ...(variablesOfText(base).length > 0 && { example: [example ?? base] }) };
  });
  return [
    { type: 'BODY', text: found.body, example: { body_text: [found.body_params] } },
    { type: 'BUTTONS', buttons },
  ];
}
