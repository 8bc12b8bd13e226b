import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.js';
import { templateArbitrary, type TemplateSample } from '../../../../test/support/template-arbitrary.js';
import type { TemplateForm } from '../templates.types.js';
import { componentsFromBody } from '../template-input.js';
import type { TemplateDraft } from '../templates.types.js';
import { checkTemplate } from './check-template.js';
import { componentsOf, previewTemplate, renderBody } from './preview.js';
import { checkSendParameters, headerMediaOf } from './send-parameters.js';
import { variablesOf } from './components.js';

/** With values of header and body alone. */
const preview = (
  template: TemplateForm,
  values: Parameters<typeof componentsOf>[1],
): ReturnType<typeof previewTemplate> => previewTemplate(template, componentsOf(template, values));

type Json = Record<string, unknown>;

const sample = templateArbitrary();
const RUNS = { numRuns: runs(100) };

/** A preview takes values for these alone. */
const isOfText = (missing: string): boolean => /^(header|body)\./.test(missing);

/** Every list of parameters in what is sent, cards' too. */
function parameterLists(sent: readonly Json[]): Json[][] {
  return sent.flatMap((component) => [
    ...(Array.isArray(component.parameters) ? [component.parameters as Json[]] : []),
    ...((component.cards ?? []) as { components: Json[] }[]).flatMap((card) => parameterLists(card.components)),
  ]);
}

function changed(of: TemplateSample, choice: number, change: (list: Json[]) => void): Json[] | null {
  const sent = structuredClone(of.sent);
  const lists = parameterLists(sent);
  if (lists.length === 0) return null;
  change(lists[choice % lists.length] as Json[]);
  return sent;
}

describe('a template that the platform takes', () => {
  it('of every kind is made by the generator, so that the properties below mean something', () => {
    const kinds = new Set(fc.sample(sample, 300).map(({ kind }) => kind));
    expect(kinds.size).toBe(7);
  });

  it('has no violation', () => {
    fc.assert(
      fc.property(sample, (of) => {
        expect(checkTemplate(of)).toEqual([]);
      }),
      RUNS,
    );
  });

  it('is previewed whole with all its values: nothing missing, nothing unused', () => {
    fc.assert(
      fc.property(sample, (of) => {
        const shown = preview(of, of.values);
        expect(shown).toMatchObject({ body: of.renderedBody, unused: [] });
        expect(shown.missing.filter(isOfText)).toEqual([]);
        expect(shown.header?.text ?? null).toBe(of.renderedHeader);
        expect(JSON.stringify(shown.buttons)).not.toContain('{{');
      }),
      RUNS,
    );
  });

  it('is previewed with what is missing and what is unused, one value less or more', () => {
    fc.assert(
      fc.property(sample, (of) => {
        const { body } = of.values;
        expect(preview(of, { ...of.values, body: [...body, 'more'] }).unused).toEqual([`body[${body.length}]`]);
        if (body.length > 0) {
          expect(preview(of, { ...of.values, body: body.slice(1) }).missing.filter(isOfText)).toHaveLength(1);
        }
      }),
      RUNS,
    );
  });

  it('may be sent with exactly its parameters, and the journal shows the body as its reader sees it', () => {
    fc.assert(
      fc.property(sample, (of) => {
        expect(checkSendParameters(of, of.sent)).toBeNull();
        expect(renderBody(of, of.sent)).toBe(of.renderedBody);
      }),
      RUNS,
    );
  });

  it('may not be sent with one parameter less or one more, anywhere', () => {
    fc.assert(
      fc.property(sample, fc.nat(), (of, choice) => {
        const less = changed(of, choice, (list) => list.pop());
        const more = changed(of, choice, (list) => list.push({ type: 'text', parameter_name: 'more', text: 'more' }));
        for (const sent of [less, more]) {
          if (sent !== null) expect(checkSendParameters(of, sent)).toMatchObject({ message: expect.any(String) });
        }
      }),
      RUNS,
    );
  });

  it('names as many variables as parameters that a send must give, but for media and places in headers', () => {
    fc.assert(
      fc.property(sample, (of) => {
        const given = parameterLists(of.sent).flat();
        const free = given.filter(({ type }) => ['image', 'video', 'document', 'location'].includes(String(type)));
        expect(variablesOf(of)).toHaveLength(given.length - free.length);
      }),
      RUNS,
    );
  });

  it('given as its body alone, becomes the same component', () => {
    const texts = sample.filter(({ kind }) => kind === 'text');
    fc.assert(
      fc.property(texts, (of) => {
        const { body } = of.values;
        const component = of.components.find(({ type }) => type.toUpperCase() === 'BODY');
        const made = componentsFromBody(String(component?.text), body);
        expect(checkTemplate({ ...of, ...made })).toEqual([]);
        expect(variablesOf({ category: 'UTILITY', ...made }).map(({ example }) => example)).toEqual(body);
      }),
      RUNS,
    );
  });
});

const KEYS = ['type', 'text', 'format', 'example', 'buttons', 'cards', 'components', 'parameters', 'url', 'index'];
const TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER', 'BUTTON', 'URL', 'OTP', 'TEXT'];

/** JSON that looks like a template here and there, with anything anywhere. */
const hostile = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom<unknown>(null, 0, -1, 1.5, true, '', '{{', '{{1}}', '{{a}} {{1}}', '}}{{', '{{{{1}}}}', ...TYPES),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(...KEYS, 'limited_time_offer', 'otp_type', 'supported_apps', 'body_text', '__proto__', 'length'),
      tie('json'),
      { maxKeys: 5 },
    ),
  ),
})).json;

function everything(components: unknown, sent: unknown, category: TemplateForm['category']): void {
  for (const parameterFormat of ['POSITIONAL', 'NAMED'] as const) {
    const form = { name: 'a', language: 'en', category, parameterFormat, components } as TemplateDraft;
    for (const { field, rule, message } of checkTemplate(form)) {
      expect([typeof field, typeof rule, typeof message]).toEqual(['string', 'string', 'string']);
    }
    const list = Array.isArray(components) ? (components as TemplateDraft['components']) : [];
    const template = { ...form, components: list };
    variablesOf(template);
    preview(template, { header: ['a'], body: ['b'] });
    checkSendParameters(template, Array.isArray(sent) ? (sent as Json[]) : []);
    renderBody(template, Array.isArray(sent) ? (sent as Json[]) : []);
    headerMediaOf(list);
  }
}

describe('anything at all', () => {
  it('is answered without throwing', () => {
    const anyJson = fc.oneof(hostile, fc.array(hostile), fc.jsonValue() as fc.Arbitrary<unknown>);
    fc.assert(
      fc.property(anyJson, anyJson, fc.constantFrom('UTILITY' as const, 'AUTHENTICATION' as const), everything),
      { numRuns: runs(300) },
    );
  });

  it('is answered without throwing, where it stands somewhere in a good template', () => {
    fc.assert(
      fc.property(sample, hostile, fc.nat(), (of, bad, choice) => {
        const copy = structuredClone(of);
        const places: (() => void)[] = [];
        const visit = (value: unknown): void => {
          if (typeof value !== 'object' || value === null) return;
          for (const key of Object.keys(value)) {
            places.push(() => void Object.assign(value, { [key]: bad }));
            visit((value as Json)[key]);
          }
        };
        visit(copy.components);
        visit(copy.sent);
        places[choice % places.length]?.();
        everything(copy.components, copy.sent, of.category);
      }),
      { numRuns: runs(150) },
    );
  });

  const SIZE = 256 * 1024;
  const fill = (piece: string): string => piece.repeat(Math.floor(SIZE / piece.length));
  const numbered = Array.from({ length: 30_000 }, (_item, index) => `{{${index + 1}}}`).join(' ');
  const deep = (depth: number): unknown => {
    let value: unknown = 'x';
    for (let level = 0; level < depth; level++) value = [{ components: value, cards: value }];
    return value;
  };
  const body = (text: string): unknown => [{ type: 'BODY', text }];
  const giants: Record<string, unknown> = {
    'open braces': body(fill('{{')),
    'open braces with letters': body(fill('{{a')),
    'closed braces': body(fill('{{1}}')),
    'one name over and over': body(fill('a {{1}} ')),
    'thousands of names': body(numbered),
    'stars in a header': [{ type: 'HEADER', format: 'TEXT', text: fill('*_ ') }],
    'a long name': body(`a {{${fill('x')}}} b`),
    'thousands of components': Array.from({ length: 12_000 }, () => ({ type: 'BODY' })),
    'thousands of buttons': [{ type: 'BUTTONS', buttons: Array.from({ length: 12_000 }, () => ({ type: 'URL' })) }],
    'thousands of cards': [{ type: 'CAROUSEL', cards: Array.from({ length: 10_000 }, () => ({})) }],
    'thousands of examples': [{ type: 'BODY', text: numbered, example: { body_text: Array(60_000).fill('') } }],
    'deep nesting': [{ type: 'CAROUSEL', cards: deep(20_000), components: deep(20_000) }],
  };

  it.each(Object.entries(giants))('is answered quickly and shortly: %s', (_name, components) => {
    const before = process.cpuUsage();
    const violations = checkTemplate({
      name: 'a',
      language: 'en',
      category: 'UTILITY',
      parameterFormat: 'POSITIONAL',
      components: components as TemplateDraft['components'],
    });
    everything(components, components, 'UTILITY');
    // Each takes far less than a second; a search that is not linear takes minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
    expect(violations.length).toBeGreaterThan(0);
    expect(violations.length).toBeLessThanOrEqual(20);
    expect(JSON.stringify(violations).length).toBeLessThan(20_000);
  });

  it('makes no giant out of one parameter that a body repeats', () => {
    const components = [{ type: 'BODY', text: `a ${'{{1}} '.repeat(150)}.` }];
    const template = { category: 'UTILITY', parameterFormat: 'POSITIONAL', components } as const;
    const sent = [{ type: 'body', parameters: [{ type: 'text', text: '😀'.repeat(60_000) }] }];
    const rendered = renderBody(template, sent) ?? '';
    expect(rendered.length).toBeLessThanOrEqual(16_384);
    expect(rendered).not.toMatch(/\p{Surrogate}/u);
  });
});
